/** Collects what is lost by the next step. The bundle gets its name last, so that one that exists is complete. */
import { redactText } from '../../../kube/process/redact-log.ts';
import type { Host } from '../../host/port.ts';
import { JOBS_DIRECTORY } from '../../layout.ts';
import type { DiagnosticsProfile } from '../config.ts';
import { runName } from '../output.ts';
import { parseSize } from '../size.ts';
import { type StepExecutor, type StepRun, succeededStep } from './executor.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
/** A program that hangs on a sick node must not take the time of the others. */
const COMMAND_PART = 0.25;
const MAX_FILE_BYTES = 16 * 1024 ** 2;
const MAX_BUNDLE_BYTES = 256 * 1024 ** 2;

export function diagnosticsDirectory(name: string): string {
  return `${JOBS_DIRECTORY}/${name}/diagnostics`;
}

export const collectDiagnosticsStep: StepExecutor<'CollectDiagnostics'> = {
  async problem({ config }, { profile }) {
    if (Object.hasOwn(config.profiles, profile)) return undefined;
    const known = Object.keys(config.profiles).join(', ');
    return {
      code: 'NotAllowed',
      message: `the configuration of this agent has no profile ${profile}: it has ${known}`,
    };
  },
  async execute({ host, config, clock }, { profile, maxBytes }, run) {
    const directory = diagnosticsDirectory(run.name);
    if (await host.files.stat(directory)) return succeededStep(`collected into ${directory}`);
    const staging = `${directory}.part`;
    await host.files.remove(staging);
    await host.files.makeDirectory(staging, '0700');
    const bundle = createBundle(host, staging, await spaceFor(host, parseSize(maxBytes)));
    await collect(host, config.profiles[profile] as DiagnosticsProfile, {
      bundle,
      run,
      endMs: clock.monotonicMs() + run.timeoutMs * (1 - COMMAND_PART),
      nowMs: () => clock.monotonicMs(),
    });
    await host.files.rename(staging, directory);
    return succeededStep(`collected into ${directory}`, bundle.summary());
  },
  async observe({ host }, progress) {
    const directory = diagnosticsDirectory(runName(progress));
    if (await host.files.stat(directory)) return { happened: 'Yes', message: `collected into ${directory}` };
    return { happened: 'No', message: 'the agent ended before the diagnostics were complete' };
  },
};

/** Diagnostics must not fill the disk whose fullness they may be about. */
async function spaceFor({ files }: Host, maxBytes: number): Promise<number> {
  const half = Math.floor((await files.usage(JOBS_DIRECTORY)).freeBytes / 2);
  return Math.min(maxBytes, half, MAX_BUNDLE_BYTES);
}

interface Bundle {
  leftBytes(): number;
  add(name: string, content: Uint8Array, note: string): Promise<void>;
  note(line: string): void;
  summary(): string;
}

function createBundle({ files }: Host, directory: string, maxBytes: number): Bundle {
  const lines: string[] = [];
  let left = maxBytes;
  return {
    leftBytes: () => left,
    async add(name, content, note) {
      const kept = content.subarray(0, left);
      await files.write(`${directory}/${name}`, kept, ATTRIBUTES);
      left -= kept.length;
      lines.push(`${name} ${kept.length} bytes${kept.length < content.length ? ', cut' : ''}${note}`);
    },
    note: (line) => void lines.push(line),
    summary: () => lines.join('\n'),
  };
}

interface Collection {
  readonly bundle: Bundle;
  readonly run: StepRun;
  readonly endMs: number;
  readonly nowMs: () => number;
}

async function collect(
  host: Host,
  { commands, files }: DiagnosticsProfile,
  collection: Collection,
): Promise<void> {
  for (const [name, argv] of Object.entries(commands)) await collectOutput(host, name, argv, collection);
  for (const path of files) await collectFile(host, path, collection);
}

async function collectOutput(
  { processes }: Host,
  name: string,
  argv: readonly string[],
  { bundle, run, endMs, nowMs }: Collection,
): Promise<void> {
  const timeoutMs = Math.min(run.timeoutMs * COMMAND_PART, endMs - nowMs());
  if (timeoutMs <= 0) return bundle.note(`${name} skipped: no time left`);
  if (bundle.leftBytes() <= 0) return bundle.note(`${name} skipped: no space left`);
  const maxOutputBytes = Math.min(bundle.leftBytes(), MAX_FILE_BYTES);
  const { exitCode, signal, timedOut, output, truncated } = await processes.run(argv, {
    timeoutMs,
    maxOutputBytes,
  });
  const how = timedOut ? ', timed out' : exitCode === 0 ? '' : `, exit code ${exitCode ?? signal}`;
  const content = new TextEncoder().encode(redactText(output));
  await bundle.add(name, content, `${how}${truncated ? ', output cut' : ''}`);
}

async function collectFile({ files }: Host, path: string, { bundle }: Collection): Promise<void> {
  const stat = await files.stat(path);
  if (stat?.type !== 'File') return bundle.note(`${path} skipped: ${stat ? 'not a file' : 'not found'}`);
  if (stat.sizeBytes > Math.min(bundle.leftBytes(), MAX_FILE_BYTES)) {
    return bundle.note(`${path} skipped: ${stat.sizeBytes} bytes are too much`);
  }
  const content = redactText(new TextDecoder().decode(await files.read(path)));
  await bundle.add(path.slice(1).replaceAll('/', '_'), new TextEncoder().encode(content), '');
}
