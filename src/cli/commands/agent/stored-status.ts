import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentLock, SLOTS_FILE, STATUS_FILE } from '../../../agent/layout.ts';
import type { StoredStatus } from '../../../agent/status/publisher.ts';
import type { AgentSlots } from '../../../agent/upgrade/slots.ts';
import { readFileIfExists } from '../../../os/files.ts';
import { lockHolder } from '../../../os/lock.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface AnsweredStatus extends StoredStatus {
  /** Whether an agent runs on this host now. Without one, nothing is enforced, and the rest is as old as `writtenAt`. */
  readonly agentRuns: boolean;
}

/** Reads what the agent last wrote on its host. Needs neither the agent nor the API server. */
export async function readAgentStatus(directory = '/'): Promise<AnsweredStatus> {
  const file = resolve(directory, `.${STATUS_FILE}`);
  const text = await readFileIfExists(file);
  if (text !== undefined) {
    const { uid } = await stat(file);
    return {
      ...parseStatus(text, file),
      agentRuns: (await lockHolder(agentLock(resolve(directory)), uid)) !== undefined,
    };
  }
  throw new CliError('no agent has run on this host', {
    where: file,
    hint: 'pass the --directory of its sandbox, or start one: kubenode agent run',
    exitCode: EXIT.unavailable,
  });
}

function parseStatus(text: string, where: string): StoredStatus {
  try {
    return JSON.parse(text) as StoredStatus;
  } catch (cause) {
    const hint = 'restart the agent: it writes the file again, and reads its state from other files';
    throw new CliError('the status of the agent is damaged', { where, hint, cause });
  }
}

/** Reads the upgrade of the agent itself. Empty on a host whose agent was never replaced. */
export async function readAgentSlots(directory = '/'): Promise<AgentSlots> {
  const text = await readFileIfExists(resolve(directory, `.${SLOTS_FILE}`));
  try {
    return text === undefined ? {} : (JSON.parse(text) as AgentSlots);
  } catch {
    // The agent treats a damaged file as a missing one, too.
    return {};
  }
}
