/** Opens a repository by the road that its URL takes. */
import { commandBackend } from './command/backend.ts';
import { httpBackend } from './http/backend.ts';
import type { GitOptions } from './options.ts';
import { gitTransport } from './repository.ts';
import { parseRepository } from './repository-url.ts';
import type { GitTransport } from './transport.ts';

export function openGit(options: GitOptions): GitTransport {
  const url = parseRepository(options.repository);
  return gitTransport(url.road === 'http' ? httpBackend(url, options) : commandBackend(url, options));
}
