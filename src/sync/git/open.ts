/** Opens a repository: refs are listed here, everything else is done in a worker. */
import { createBackend } from './backend.ts';
import type { GitOptions } from './options.ts';
import type { GitTransport } from './transport.ts';
import { createWorkerTransport } from './worker/client.ts';

export function openGit(options: GitOptions): GitTransport {
  return createWorkerTransport(options, createBackend(options));
}
