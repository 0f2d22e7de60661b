/** The output of a step: a bounded file on the host, and its end, without secrets, for the status of the job. */
import { createHash } from 'node:crypto';
import { printableText } from '../../kube/objects/printable.ts';
import { redactText } from '../../kube/process/redact-log.ts';
import type { HostFiles } from '../host/port.ts';
import type { JobStepProgress, JobsState } from '../journal/jobs.ts';
import { JOBS_DIRECTORY } from '../layout.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
const MAX_FILE_BYTES = 1024 ** 2;
/** The API allows so many characters. */
const MAX_STATUS = 2048;
/** Folders of tries that are kept on the host. */
const MAX_FOLDERS = 20;

/** Names the folder of one try. Ids of steps come from the API: nothing in them may lead out of it. */
export function runName({ job, step, try: attempt }: Pick<JobStepProgress, 'job' | 'step' | 'try'>): string {
  return [job, step, attempt].map((part) => String(part).replaceAll(/[^\w-]/g, '_')).join('-');
}

export interface StoredOutput {
  readonly output: string;
  readonly outputDigest: string;
}

export async function storeOutput(
  files: Pick<HostFiles, 'write'>,
  progress: JobStepProgress,
  output: string,
): Promise<StoredOutput> {
  const content = new TextEncoder().encode(redactText(output)).subarray(0, MAX_FILE_BYTES);
  await files.write(`${JOBS_DIRECTORY}/${runName(progress)}/output.txt`, content, ATTRIBUTES);
  const digest = createHash('sha256').update(content).digest('hex');
  return { output: outputTail(new TextDecoder().decode(content)), outputDigest: `sha256:${digest}` };
}

/** Escaped after it is cut, it could be longer than allowed. */
export function outputTail(text: string): string {
  return Array.from(printableText(text.slice(-2 * MAX_STATUS)).trimEnd())
    .slice(-MAX_STATUS)
    .join('');
}

/** Keeps the folders of the newest tries. */
export async function sweepOutputs(
  files: Pick<HostFiles, 'list' | 'remove'>,
  jobs: JobsState,
): Promise<void> {
  const kept = new Set([...jobs.values()].slice(-MAX_FOLDERS).map(runName));
  for (const name of await files.list(JOBS_DIRECTORY)) {
    if (!kept.has(name)) await files.remove(`${JOBS_DIRECTORY}/${name}`);
  }
}
