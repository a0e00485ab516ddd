"""Show the notebook as one of the site's own pages."""
