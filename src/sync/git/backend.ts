/** The backend for the scheme of a repository's URL. */
import { createCommandBackend } from './command/backend.ts';
import { createHttpBackend } from './http/backend.ts';
import type { GitOptions } from './options.ts';
import { parseRepository } from './repository-url.ts';
import type { GitBackend } from './transport.ts';

export function createBackend(options: GitOptions): GitBackend {
  const url = parseRepository(options.repository);
  return url.scheme === 'http' ? createHttpBackend(url, options) : createCommandBackend(url, options);
}
