# spec, design roce-nvidia-sn5610-2t-1to1-2planes
# Applies nothing by itself: look at `nv config diff`, then run `nv config apply`.
nv set system hostname leaf-p1-001
nv set interface lo ipv4 address 10.224.0.1/32
nv set interface swp1-4 link breakout 2x lanes-per-port 4
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1 link speed 400G
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1 link mtu 9216
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1 link state up
nv set interface swp61-64 link speed 800G
nv set interface swp61-64 link mtu 9216
nv set interface swp61-64 link state up
nv set bridge domain br_default vlan 100
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1 bridge domain br_default access 100
nv set interface vlan100 ipv4 address 10.0.0.1/24
nv set interface vlan100 vlan 100
nv set interface vlan100 link mtu 9216
nv set router bgp autonomous-system 4201000000
nv set router bgp router-id 10.224.0.1
nv set vrf default router bgp path-selection multipath aspath-ignore enabled
nv set vrf default router bgp address-family ipv4-unicast state enabled
nv set vrf default router bgp address-family ipv4-unicast multipaths ebgp 4
nv set vrf default router bgp address-family ipv4-unicast network 10.224.0.1/32
nv set vrf default router bgp address-family ipv4-unicast network 10.0.0.0/24
nv set vrf default router bgp peer-group up address-family ipv4-unicast state enabled
nv set vrf default router bgp neighbor swp61 type unnumbered
nv set vrf default router bgp neighbor swp61 peer-group up
nv set vrf default router bgp neighbor swp61 remote-as 4202000000
nv set vrf default router bgp neighbor swp61 description spine-p1-001-swp1
nv set vrf default router bgp neighbor swp62 type unnumbered
nv set vrf default router bgp neighbor swp62 peer-group up
nv set vrf default router bgp neighbor swp62 remote-as 4202000000
nv set vrf default router bgp neighbor swp62 description spine-p1-001-swp2
nv set vrf default router bgp neighbor swp63 type unnumbered
nv set vrf default router bgp neighbor swp63 peer-group up
nv set vrf default router bgp neighbor swp63 remote-as 4202000000
nv set vrf default router bgp neighbor swp63 description spine-p1-002-swp1
nv set vrf default router bgp neighbor swp64 type unnumbered
nv set vrf default router bgp neighbor swp64 peer-group up
nv set vrf default router bgp neighbor swp64 remote-as 4202000000
nv set vrf default router bgp neighbor swp64 description spine-p1-002-swp2
nv set qos roce mode lossless
nv set qos mapping default-global trust l3
nv set qos mapping default-global dscp 26 switch-priority 3
nv set qos mapping default-global dscp 48 switch-priority 6
nv set qos egress-queue-mapping default-global switch-priority 0 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 1 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 2 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 3
nv set qos egress-queue-mapping default-global switch-priority 4 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 5 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 6 traffic-class 6
nv set qos egress-queue-mapping default-global switch-priority 7 traffic-class 0
nv set qos egress-scheduler default-global traffic-class 0 mode dwrr
nv set qos egress-scheduler default-global traffic-class 0 bw-percent 50
nv set qos egress-scheduler default-global traffic-class 3 mode dwrr
nv set qos egress-scheduler default-global traffic-class 3 bw-percent 50
nv set qos egress-scheduler default-global traffic-class 6 mode strict
nv set qos pfc default-global switch-priority 3
nv set qos congestion-control default-global traffic-class 3 ecn enable
nv set qos congestion-control default-global traffic-class 3 min-threshold 150000
nv set qos congestion-control default-global traffic-class 3 max-threshold 1500000
nv set qos congestion-control default-global traffic-class 3 probability 100
nv set qos pfc roce-5m switch-priority 3
nv set qos pfc roce-5m tx enable
nv set qos pfc roce-5m rx enable
nv set qos pfc roce-5m cable-length 5
nv set interface swp61-64 qos pfc profile roce-5m
nv set qos pfc roce-6m switch-priority 3
nv set qos pfc roce-6m tx enable
nv set qos pfc roce-6m rx enable
nv set qos pfc roce-6m cable-length 6
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1 qos pfc profile roce-6m
nv set interface swp1s0-1,swp2s0-1,swp3s0-1,swp4s0-1,swp61-64 qos pfc-watchdog state enable
