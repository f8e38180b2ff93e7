"""The pages."""

from dobandit.service.pages.routing import routes
