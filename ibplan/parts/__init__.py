"""A class of links becomes modules, cables and unit prices. The one place that counts optics."""
