/** `kubenode import --apply`: applies the Machines of the hosts that passed, and follows them until they are Ready. */
import type { Client } from '../../../../kube/client/client.ts';
import { textAt, valueAt } from '../../../../kube/objects/json.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { withDeadline } from '../../../../os/deadline.ts';
import { secretHost } from '../../../../providers/ssh/target.ts';
import { COLUMNS } from '../../../../views/text/wrap.ts';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { setExitCode } from '../../../exit.ts';
import { withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDisplay } from '../../../live/display.ts';
import { followLive } from '../../../live/follow.ts';
import { printWarnings } from '../../../output.ts';
import type { ImportFlags } from '../options.ts';
import type { ImportedMachine } from '../report/machines.ts';
import type { ImportSecrets } from '../secrets.ts';
import { applyMachines } from './apply-machines.ts';
import { createImportFeed } from './feed.ts';
import { formatProgress, IMPORT_PRESENTATION, importSummary } from './presentation.ts';
import { type ExpectedMachine, type ImportProgress, importEnd } from './progress.ts';
import { requireSecret } from './secret.ts';

export interface ApplyRequest {
  readonly machines: readonly ImportedMachine[];
  /** The host of each Machine, by its name. */
  readonly hosts: ReadonlyMap<string, string>;
  readonly secrets: ImportSecrets;
  readonly flags: ImportFlags;
  /** The exit code of the preflight: that of a host which could not be checked stays. */
  readonly preflightCode: ExitCode;
}

export async function applyImport(io: Io, request: ApplyRequest): Promise<void> {
  const { machines, hosts, flags, preflightCode } = request;
  if (machines.length === 0) return;
  await withCluster(io, flags, async (client) => {
    await ensureSecret(io, client, request);
    const applied = await applyMachines(client, machines, io.signal);
    const expected = applied.map((each) => ({ ...each, host: hosts.get(each.name) ?? '' }));
    const { wait } = flags;
    const progress =
      wait === false ? appliedProgress(expected) : await follow(io, client, { expected, flags, wait });
    if (progress) printEnd(io, progress, flags);
    const isDone = wait === false ? isApplied(progress) : progress && importEnd(progress) === 'Ready';
    setExitCode(io, preflightCode !== EXIT.ok || isDone ? preflightCode : EXIT.unhealthy);
  });
}

/** For Machines that are printed, and get to the cluster by git. */
export async function createImportSecret(io: Io, request: SecretsOfMachines): Promise<void> {
  if (request.machines.length === 0) return;
  await withCluster(io, request.flags, (client) => ensureSecret(io, client, request));
}

type SecretsOfMachines = Pick<ApplyRequest, 'machines' | 'secrets' | 'flags'>;

async function ensureSecret(
  io: Io,
  client: Client,
  { machines, secrets, flags }: SecretsOfMachines,
): Promise<void> {
  const create = flags.createSecret ? secretTexts(secrets) : undefined;
  const warning = await requireSecret(client, {
    name: flags.secret,
    hosts: machines.map(hostOfMachine),
    signal: io.signal,
    ...optional('create', create),
  });
  printWarnings(io, warning === undefined ? [] : [warning]);
}

function hostOfMachine({ spec }: ImportedMachine): string {
  const port = valueAt(spec, 'import', 'port');
  return secretHost({
    address: textAt(spec, 'import', 'address') ?? '',
    port: typeof port === 'number' ? port : 22,
  });
}

function secretTexts({ texts }: ImportSecrets): NonNullable<ImportSecrets['texts']> {
  if (texts) return texts;
  throw new CliError('--create-secret needs the private key itself: an agent does not give it away', {
    hint: 'add --identity FILE, or create the Secret with kubectl',
    exitCode: EXIT.usage,
  });
}

/** Without --wait the command tells only what was applied. */
function appliedProgress(expected: readonly ExpectedMachine[]): ImportProgress {
  return {
    machines: expected.map(({ name, host, refusal }) => ({
      machine: name,
      host,
      ...(refusal === undefined
        ? { state: 'Importing', step: 'Applied' }
        : { state: 'NotApplied', reason: 'NotApplied', message: refusal }),
    })),
  };
}

function isApplied(progress: ImportProgress | undefined): boolean {
  return progress?.machines.every(({ state }) => state !== 'NotApplied') === true;
}

interface Following {
  readonly expected: readonly ExpectedMachine[];
  readonly flags: ImportFlags;
  readonly wait: number;
}

/** Ends when all are Ready or need a person, or the time of --wait is over. The controllers go on in each case. */
async function follow(
  io: Io,
  client: Client,
  { expected, flags, wait }: Following,
): Promise<ImportProgress | undefined> {
  const feed = createImportFeed({ client, clock: io.clock, expected });
  const display = createDisplay(io, flags.output === 'json' ? 'json' : 'table', IMPORT_PRESENTATION);
  let latest: ImportProgress | undefined;
  const over = new CliError('the time of --wait is over');
  try {
    await withDeadline(
      { clock: io.clock, ms: wait * 1000, signal: io.signal, expired: () => over },
      (signal) =>
        followLive({ clock: io.clock, signal }, feed, display, (progress) => {
          latest = progress;
          return importEnd(progress);
        }),
    );
  } catch (error) {
    if (error !== over) throw error;
  }
  return latest;
}

function printEnd(io: Io, progress: ImportProgress, { output, wait }: ImportFlags): void {
  if (output === 'json') {
    if (wait === false) io.out(`${JSON.stringify(progress)}\n`);
    return;
  }
  const isWaiting = importEnd(progress) === undefined;
  const note = isWaiting ? '. The controllers go on: kubectl get machines shows how far they are' : '';
  io.err(`${importSummary(progress)}${note}\n`);
  if (progress.machines.some(({ state }) => state !== 'Ready')) {
    io.out(formatProgress(progress, io.screen()?.columns ?? COLUMNS));
  }
}
