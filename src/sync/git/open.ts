/** Opens a repository with the backend for the scheme of its URL. */
import { createCommandBackend } from './command/backend.ts';
import { createHttpBackend } from './http/backend.ts';
import type { GitOptions } from './options.ts';
import { createGitTransport } from './repository.ts';
import { parseRepository } from './repository-url.ts';
import type { GitTransport } from './transport.ts';

export function openGit(options: GitOptions): GitTransport {
  const url = parseRepository(options.repository);
  return createGitTransport(
    url.scheme === 'http' ? createHttpBackend(url, options) : createCommandBackend(url, options),
  );
}
