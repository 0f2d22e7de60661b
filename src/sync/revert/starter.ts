/** Makes the commit of a revert, and records that it is about to be pushed. */
import type { Pipeline, PipelineRevert } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { Clock } from '../../os/clock.ts';
import type { GitTransport, RevertResult, SignatureQuestion } from '../git/transport.ts';
import type { RevertDestination } from './destination.ts';
import { revertMessage } from './message.ts';
import type { StageFailure } from './plan.ts';
import { chooseWay, nothingProven, type RevertRefusal, unmadeReason } from './refusal.ts';

export interface RevertTurn {
  readonly pipeline: Pipeline;
  readonly target: RevertDestination;
  readonly failure: StageFailure;
}

export interface RevertStarterPorts {
  readonly git: Pick<GitTransport, 'revert'>;
  /** Returns how commits are verified. Undefined: no signature is required. */
  readonly signatures: () => Pick<SignatureQuestion, 'mode' | 'signers'> | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly save: (record: PipelineRevert) => Promise<void>;
}

export interface RevertStarter {
  /** Records the revert. Resolves with the reason if none can be made. */
  start(turn: RevertTurn, onto: string): Promise<RevertRefusal | undefined>;
  /** Makes the commit of a record again. */
  remake(turn: RevertTurn, record: PipelineRevert): Promise<RevertResult>;
}

/** The limits of the status. */
const [MAX_NOTE, MAX_CLUSTERS] = [1024, 20];

export function createRevertStarter(ports: RevertStarterPorts): RevertStarter {
  const { git, clock, signal, save } = ports;
  return { start, remake };

  async function start(turn: RevertTurn, onto: string): Promise<RevertRefusal | undefined> {
    const { failure, target } = turn;
    const { proven } = failure;
    if (proven === undefined) return nothingProven(failure);
    const draft = draftOf(turn, { proven, onto, plannedAt: clock.now().toISOString() });
    const made = await remake(turn, draft);
    if (made.type !== 'Revert') return unmadeReason(made, { ...failure, proven });
    const { unaccepted, commit } = made;
    const way = chooseWay({ how: target.how, failure, onto, branch: draft.branch, unaccepted });
    if ('reason' in way) return way;
    const note = way.note === undefined ? undefined : truncate(way.note, MAX_NOTE);
    await save({ ...draft, how: way.how, ...optional('note', note), revert: commit });
    return undefined;
  }

  async function remake(
    { pipeline, target, failure }: RevertTurn,
    record: PipelineRevert,
  ): Promise<RevertResult> {
    const { proven, commit, onto, plannedAt } = record;
    const { ref, signingKey } = target;
    const { subject } = failure;
    const policy = ports.signatures();
    const signatures = policy && { ...policy, ref, now: clock.now() };
    return await git.revert(
      {
        from: proven,
        to: commit,
        onto,
        ref,
        message: revertMessage({ ...record, pipeline: pipeline.metadata.name, subject }),
        at: new Date(plannedAt),
        ...optional('signingKey', signingKey),
        ...optional('signatures', signatures),
      },
      signal,
    );
  }
}

/** Returns the record without the commit. The name of the branch is the same for each attempt. */
function draftOf(
  { pipeline, failure }: RevertTurn,
  more: Pick<PipelineRevert, 'proven' | 'onto' | 'plannedAt'>,
): PipelineRevert {
  const { stage, release, commit, clusters } = failure;
  return {
    ...more,
    commit,
    stage,
    release,
    revert: '',
    branch: `kubenode/revert/${pipeline.metadata.name}/${stage}/${commit.slice(0, 12)}`,
    how: 'Propose',
    state: 'Planned',
    failedClusters: clusters
      .slice(0, MAX_CLUSTERS)
      .map(({ name, reason }) => ({ name, ...optional('reason', reason) })),
  };
}
