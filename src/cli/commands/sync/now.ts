/** `kubenode sync now`: makes the running sync read the repository at once, and prints what it found. */
import { Command } from 'commander';
import { PIPELINES } from '../../../api/generated/resources.ts';
import type { Pipeline } from '../../../api/generated/types.ts';
import { ANNOTATION_POLL_REQUEST, MANAGER_CLI } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { printableLine } from '../../../kube/objects/printable.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { readHub, selectPipeline } from '../../fleet/hub-objects.ts';
import { findUnsynced } from '../../fleet/sync-leases.ts';
import type { Io } from '../../io.ts';

const HELP = `
For a commit that should not wait for the next poll of the repository (spec.source.pollSeconds). The running sync reads it at once; this
command waits until it has, and prints the head. It changes no gate: soaks and approvals count as before.`;

const LIMIT_MS = 60_000;
const POLL_MS = 200;
/** Reads a Lease every two seconds. */
const CHECK_EVERY = 10;

type Flags = ConnectionFlags & { readonly pipeline?: string };

export function createNowCommand(io: Io): Command {
  const command = new Command('now')
    .description('read the repository of a pipeline at once, without waiting for its next poll')
    .option('--pipeline <name>', 'name of the Pipeline: needed if the hub has several')
    .addHelpText('after', HELP);
  // The options of `sync` are accepted in both places.
  return addConnectionOptions(command).action(async (_: Flags, own: Command) => {
    const flags = own.optsWithGlobals<Flags>();
    const client = await connectFrom(io, flags);
    try {
      await syncNow(io, client, flags);
    } finally {
      await client.close();
    }
  });
}

async function syncNow(io: Io, client: Client, flags: Flags): Promise<void> {
  const { signal, clock } = io;
  const { pipelines } = await readHub(client, signal);
  const pipeline = selectPipeline(pipelines, flags.pipeline);
  const { name } = pipeline.metadata;
  const request = clock.now().toISOString();
  const body = { metadata: { annotations: { [ANNOTATION_POLL_REQUEST]: request } } };
  await client.patch(PIPELINES, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI, signal });
  const checkSynced = async (): Promise<void> => {
    const [unsynced] = await findUnsynced(client, [pipeline], { now: clock.now(), flags, signal });
    if (unsynced !== undefined) throw new CliError(unsynced, { exitCode: EXIT.unavailable });
  };
  const served = await servedPipeline(
    io,
    { checkSynced, read: () => client.get(PIPELINES, { name }, { signal }) },
    request,
  );
  io.out(`${printableLine(formatHead(served))}\n`);
}

interface WaitPorts {
  /** Rejects when no process syncs the Pipeline. */
  readonly checkSynced: () => Promise<void>;
  readonly read: () => Promise<Pipeline>;
}

/** After the poll, also while the render of a new head goes on. */
export async function servedPipeline(
  { signal, clock }: Pick<Io, 'signal' | 'clock'>,
  { checkSynced, read }: WaitPorts,
  request: string,
): Promise<Pipeline> {
  const startMs = clock.monotonicMs();
  for (let polls = 0; clock.monotonicMs() < startMs + LIMIT_MS; polls += 1) {
    if (polls % CHECK_EVERY === 0) await checkSynced();
    const pipeline = await read();
    if (pipeline.status?.head?.polledFor === request) return pipeline;
    await clock.sleep(POLL_MS, signal);
  }
  throw new CliError(`sync has not read the repository within ${LIMIT_MS / 1000} s`, {
    hint: 'kubenode status shows what it waits for',
    exitCode: EXIT.unavailable,
  });
}

/** Pure. */
export function formatHead({ metadata, status }: Pipeline): string {
  const { commit = 'no commit', verdict = 'Unknown', message } = status?.head ?? {};
  const because = message ?? unreadReason(status?.conditions);
  return `pipeline ${metadata.name}: head ${commit}, ${verdict}${because === undefined ? '' : `: ${because}`}`;
}

function unreadReason(conditions: NonNullable<Pipeline['status']>['conditions'] = []): string | undefined {
  return conditions.find(({ type, status }) => type === 'SourceReady' && status !== 'True')?.message;
}
