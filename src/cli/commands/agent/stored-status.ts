import { resolve } from 'node:path';
import { STATUS_FILE } from '../../../agent/layout.ts';
import type { StoredStatus } from '../../../agent/status/publisher.ts';
import { readFileIfExists } from '../../../os/files.ts';
import { CliError, EXIT } from '../../errors.ts';

/** What the agent last wrote on its host. Needs neither the agent nor the API server. */
export async function readAgentStatus(directory = '/'): Promise<StoredStatus> {
  const file = resolve(directory, `.${STATUS_FILE}`);
  const text = await readFileIfExists(file);
  if (text !== undefined) return JSON.parse(text) as StoredStatus;
  throw new CliError('no agent has run on this host', {
    where: file,
    hint: 'pass the --directory of its sandbox, or start one: kubenode agent run',
    exitCode: EXIT.unavailable,
  });
}
