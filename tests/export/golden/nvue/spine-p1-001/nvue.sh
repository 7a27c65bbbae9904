# spec, design roce-nvidia-sn5610-2t-1to1-2planes
# Applies nothing by itself: look at `nv config diff`, then run `nv config apply`.
nv set system hostname spine-p1-001
nv set interface lo ipv4 address 10.240.0.1/32
nv set interface swp1-4 link speed 800G
nv set interface swp1-4 link mtu 9216
nv set interface swp1-4 link state up
nv set router bgp autonomous-system 4202000000
nv set router bgp router-id 10.240.0.1
nv set vrf default router bgp path-selection multipath aspath-ignore enabled
nv set vrf default router bgp address-family ipv4-unicast state enabled
nv set vrf default router bgp address-family ipv4-unicast multipaths ebgp 2
nv set vrf default router bgp address-family ipv4-unicast network 10.240.0.1/32
nv set vrf default router bgp peer-group down address-family ipv4-unicast state enabled
nv set vrf default router bgp neighbor swp1 type unnumbered
nv set vrf default router bgp neighbor swp1 peer-group down
nv set vrf default router bgp neighbor swp1 remote-as 4201000000
nv set vrf default router bgp neighbor swp1 description leaf-p1-001-swp61
nv set vrf default router bgp neighbor swp2 type unnumbered
nv set vrf default router bgp neighbor swp2 peer-group down
nv set vrf default router bgp neighbor swp2 remote-as 4201000000
nv set vrf default router bgp neighbor swp2 description leaf-p1-001-swp62
nv set vrf default router bgp neighbor swp3 type unnumbered
nv set vrf default router bgp neighbor swp3 peer-group down
nv set vrf default router bgp neighbor swp3 remote-as 4201000002
nv set vrf default router bgp neighbor swp3 description leaf-p1-002-swp61
nv set vrf default router bgp neighbor swp4 type unnumbered
nv set vrf default router bgp neighbor swp4 peer-group down
nv set vrf default router bgp neighbor swp4 remote-as 4201000002
nv set vrf default router bgp neighbor swp4 description leaf-p1-002-swp62
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
nv set interface swp1-4 qos pfc profile roce-5m
nv set interface swp1-4 qos pfc-watchdog state enable
