"""What can be bought: devices, parts, how parts make a link, prices. Every fact carries its source."""
