"""The service: studies as web pages and over HTTP. What needs the web stack is imported when the server starts."""

from dobandit.service.running import open_browser, serve
from dobandit.service.tokens import ROLES, Role, Token, TokenFile
