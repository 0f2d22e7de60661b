/** Runs the commands that take over and release a host, for `kubenode agent` and for the program of the agent. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSandboxHost, type SandboxHost } from '../../../../agent/host/sandbox/host.ts';
import { createSystemdHost, type SystemdHost } from '../../../../agent/host/systemd/host.ts';
import { nodeOfBootstrap } from '../../../../agent/identity/access.ts';
import { agentLock } from '../../../../agent/layout.ts';
import { acceptAccess } from '../../../../agent/takeover/accept.ts';
import { parseAccess, parseOwner } from '../../../../agent/takeover/access-input.ts';
import { TakeoverError } from '../../../../agent/takeover/errors.ts';
import { installAgent, type OwnProgram } from '../../../../agent/takeover/install.ts';
import type { HostCleanup } from '../../../../agent/takeover/record.ts';
import { releaseHost } from '../../../../agent/takeover/release.ts';
import { requestCertificate } from '../../../../agent/takeover/request.ts';
import { OBJECT_UID } from '../../../../api/patterns.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { printableText } from '../../../../kube/objects/printable.ts';
import { acquireLock, tryAcquireLock } from '../../../../os/lock.ts';
import { formatJson } from '../../../../views/text/json.ts';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { machineNameReason, requireHost } from '../start.ts';
import type { TakeoverCommandName } from './definitions.ts';

export interface TakeoverOptions {
  /** Returns the value of an option; undefined when it was not given and has no default. */
  readonly find: (name: string) => string | undefined;
  /** The program of the agent that runs this. It is missing where the agent is a command of a larger program. */
  readonly program?: OwnProgram;
  readonly readInput: () => Promise<string>;
}

interface Context extends TakeoverOptions {
  readonly io: Io;
  readonly host: SystemdHost | SandboxHost;
}

const COMMANDS: Readonly<Record<TakeoverCommandName, (context: Context) => Promise<ExitCode>>> = {
  install,
  request,
  accept,
  release: (context) => release(context, (context.find('cleanup') ?? 'Restore') as HostCleanup),
  uninstall: (context) => release(context, 'Restore'),
};

/** Two callers would undo each other's steps: one waits for the other. */
export async function runTakeover(
  io: Io,
  name: TakeoverCommandName,
  options: TakeoverOptions,
): Promise<ExitCode> {
  const host = openHost(io, options);
  const lock = await acquireLock(`kubenode takeover ${host.directory}`, { signal: io.signal });
  try {
    return await COMMANDS[name]({ ...options, io, host });
  } catch (error) {
    if (!(error instanceof TakeoverError)) throw error;
    // The code is the first word: the caller at the other end of SSH compares it, and never the message.
    io.err(printableText(`${error.code} ${error.message}`) + '\n');
    if (error.hint !== undefined) io.err(`  hint: ${error.hint}\n`);
    return EXIT.badInput;
  } finally {
    await lock.release();
    await host.close();
  }
}

function openHost({ clock }: Io, { find }: TakeoverOptions): SystemdHost | SandboxHost {
  const directory = find('directory');
  requireHost({ host: find('host') ?? 'systemd', ...optional('directory', directory) });
  return directory === undefined
    ? createSystemdHost({ clock })
    : createSandboxHost({ directory: resolve(directory), clock });
}

function machineOf({ find }: Pick<TakeoverOptions, 'find'>): string {
  const machine = find('machine') ?? '';
  const reason = machineNameReason(machine);
  if (reason !== undefined) throw new CliError(reason, { exitCode: EXIT.usage });
  return machine;
}

/** An empty UID is refused, too: a release without a UID asks no owner. */
function uidOf({ find }: TakeoverOptions, option: string): string | undefined {
  const uid = find(option);
  if (uid === undefined || new RegExp(OBJECT_UID.regex).test(uid)) return uid;
  throw new CliError(`--${option}: expected ${OBJECT_UID.description}, got ${JSON.stringify(uid)}`, {
    exitCode: EXIT.usage,
  });
}

/** A file that is the same on each host of a template names no Machine: the kubelet knows its Node, which has the same name. */
async function machineToInstall(context: Context): Promise<string> {
  const { find } = context;
  const bootstrap = find('bootstrap');
  if (find('machine') !== undefined || bootstrap === undefined) return machineOf(context);
  const machine = await nodeOfBootstrap(resolve(bootstrap));
  return machineOf({ find: () => machine });
}

async function install(context: Context): Promise<ExitCode> {
  const { io, host, find, program } = context;
  if (!program) {
    throw new CliError('this program is more than the agent, and is not installed on a host', {
      hint: 'run the program of the agent on the host: kubenode-agent install (npm run build:agent makes it)',
      exitCode: EXIT.usage,
    });
  }
  const machine = await machineToInstall(context);
  const [machineUid, clusterUid] = [uidOf(context, 'machine-uid'), uidOf(context, 'cluster-uid')];
  const sent = machineUid === undefined ? parseOwner(await context.readInput()) : { machineUid };
  const bootstrap = find('bootstrap');
  const keptProgram = find('program');
  const installed = await installAgent(host, {
    owner: { machine, ...sent, ...optional('clusterUid', clusterUid) },
    program: { ...program, file: await realpath(program.file) },
    ...optional('keptProgram', keptProgram && resolve(keptProgram)),
    ...optional('bootstrap', bootstrap && resolve(bootstrap)),
    port: Number(find('port') ?? 0),
    clock: io.clock,
  });
  const { version, unit = 'no unit: the host has no systemd' } = installed;
  io.out(isJson(context) ? formatJson(installed) : `kubenode-agent ${version} is installed (${unit})\n`);
  return EXIT.ok;
}

async function request(context: Context): Promise<ExitCode> {
  const { io, host, find } = context;
  const renew = find('renew') !== undefined;
  io.out(await requestCertificate(host, { machine: machineOf(context), renew, clock: io.clock }));
  return EXIT.ok;
}

async function accept(context: Context): Promise<ExitCode> {
  const machine = machineOf(context);
  await acceptAccess(context.host, machine, parseAccess(await context.readInput()));
  return EXIT.ok;
}

async function release(context: Context, cleanup: HostCleanup): Promise<ExitCode> {
  const { io, host } = context;
  const machineUid = uidOf(context, 'machine-uid');
  const agent = host.type === 'sandbox' ? await requireNoAgent(host.directory) : undefined;
  try {
    const options = { cleanup, clock: io.clock, ...optional('machineUid', machineUid) };
    const { left, complete } = await releaseHost(host, options);
    io.out(isJson(context) ? formatJson({ left }) : formatLeft(left));
    return complete ? EXIT.ok : EXIT.failed;
  } finally {
    await agent?.release();
  }
}

function formatLeft(left: readonly string[]): string {
  if (left.length === 0) return 'released\n';
  return `left on this host:\n${left.map((each) => `  ${each}\n`).join('')}`;
}

/** In a sandbox nothing but a person ends the agent. */
async function requireNoAgent(directory: string): ReturnType<typeof acquireLock> {
  const lock = await tryAcquireLock(agentLock(directory));
  if (lock) return lock;
  throw new CliError('the agent of this sandbox still runs', {
    hint: 'stop it first',
    exitCode: EXIT.unavailable,
  });
}

function isJson({ find }: TakeoverOptions): boolean {
  return find('output') === 'json';
}

/** The limit of the input. A caller sends a few kilobytes. */
const MAX_INPUT_BYTES = 1024 ** 2;

/** Reads stdin to its end. A terminal sends nothing. */
export async function readStandardInput(): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) return '';
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_INPUT_BYTES) {
      throw new TakeoverError('BadInput', `stdin: more than ${MAX_INPUT_BYTES} bytes`);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
