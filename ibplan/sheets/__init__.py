"""Tables that people keep: rows of CSV files and workbooks, and the row that names their columns."""
