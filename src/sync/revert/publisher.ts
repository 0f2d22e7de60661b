/** Brings one revert to the git host: looks what is there, does what is missing, and records it. */
import type { PipelineRevert } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { PushOptions, PushRequest } from '../git/push/push.ts';
import type { GitTransport, RevertResult } from '../git/transport.ts';
import { checkLease, type HostCallPorts } from '../report/call.ts';
import { HostCallError } from '../report/outcome.ts';
import { gitAccess } from '../report/tokens/git-tokens.ts';
import type { RevertDestination } from './destination.ts';
import { pullBody, revertTitle } from './message.ts';
import { nextRevertStep, type ObservedRevert, type RevertStep, recordAfter, withPull } from './plan.ts';
import { createRevertPullHost, type RevertPullHost } from './pull-host.ts';
import type { RevertTurn } from './starter.ts';

/** Pushes a commit to one ref. */
export type PushPort = (options: PushOptions, request: PushRequest, signal: AbortSignal) => Promise<void>;

export interface RevertPublisherPorts extends HostCallPorts {
  readonly git: Pick<GitTransport, 'listRefs' | 'fetch' | 'ancestry'>;
  readonly push: PushPort;
  /** Makes the commit of a record again. */
  readonly remake: (turn: RevertTurn, record: PipelineRevert) => Promise<RevertResult>;
  readonly save: (record: PipelineRevert) => Promise<void>;
}

export interface RevertPublisher {
  publish(turn: RevertTurn, record: PipelineRevert): Promise<void>;
}

export function createRevertPublisher(ports: RevertPublisherPorts): RevertPublisher {
  const { save, signal, lease } = ports;
  return { publish };

  async function publish(turn: RevertTurn, record: PipelineRevert): Promise<void> {
    const host = createRevertPullHost(turn.target, ports);
    const step = nextRevertStep(record, await observe(ports, turn.target, record, host));
    const recorded = recordAfter(record, step);
    if (recorded) return await save(recorded);
    await carryOut({ turn, record, host }, step);
  }

  async function carryOut(job: PublishJob, step: RevertStep): Promise<void> {
    const { turn, record } = job;
    const { ref } = turn.target;
    if (step.type === 'BranchTaken') {
      throw new HostCallError({ reason: 'Refused', message: step.because, isTemporary: false });
    }
    if (step.type === 'PushTracked') {
      const isPushed = await push(turn, record, { ref, expected: record.onto });
      if (isPushed) await save({ ...record, state: 'Pushed' });
      return;
    }
    const hasBranch = step.type === 'CreatePull' || (await push(turn, record, { ref: headRef(record) }));
    if (hasBranch) await createPull(job);
  }

  /**
   * Returns false if another commit is made now than was recorded, because the signing key has changed: that one is recorded first, so that
   * a branch with it is known as ours.
   */
  async function push(
    turn: RevertTurn,
    record: PipelineRevert,
    where: Pick<PushRequest, 'ref' | 'expected'>,
  ): Promise<boolean> {
    const made = await ports.remake(turn, record);
    if (made.type !== 'Revert') {
      throw new Error(`the revert ${record.revert} cannot be made again: ${made.type}`);
    }
    const { commit, objects } = made;
    if (commit !== record.revert) {
      await save({ ...record, revert: commit });
      return false;
    }
    const { repository, ca } = turn.target;
    checkLease(lease);
    await ports.push(
      { repository, ...gitAccess(turn.target, ports.tokens), ...optional('ca', ca) },
      { ...where, commit, objects },
      signal,
    );
    return true;
  }

  async function createPull({ turn, record, host }: PublishJob): Promise<void> {
    const { pipeline, target, failure } = turn;
    const text = { ...record, pipeline: pipeline.metadata.name, subject: failure.subject };
    const pull = await host.create({
      head: record.branch,
      base: target.branch,
      title: revertTitle(text),
      body: pullBody(text),
    });
    await save(withPull(record, pull));
  }
}

interface PublishJob {
  readonly turn: RevertTurn;
  readonly record: PipelineRevert;
  readonly host: RevertPullHost;
}

function headRef({ branch }: PipelineRevert): string {
  return `refs/heads/${branch}`;
}

async function observe(
  { git, signal }: RevertPublisherPorts,
  { ref, branch: base }: RevertDestination,
  record: PipelineRevert,
  host: RevertPullHost,
): Promise<ObservedRevert> {
  const tracked = await commitOf(ref);
  const isMoved = tracked !== undefined && tracked !== record.onto && tracked !== record.revert;
  const isMerged = isMoved && (await isInHistory(record.revert));
  if (record.how === 'Push') return { tracked, isMerged, branch: undefined, pull: undefined };
  const pull = await host.find({ head: record.branch, base });
  const branch = pull ? undefined : await commitOf(headRef(record));
  return { tracked, isMerged, branch, pull };

  async function commitOf(name: string): Promise<string | undefined> {
    return (await git.listRefs(signal, name)).get(name);
  }

  async function isInHistory(ancestor: string): Promise<boolean> {
    const head = await git.fetch(ref, signal);
    const relation = await git.ancestry({ ancestor, head, ref }, signal);
    return relation === 'same' || relation === 'descends';
  }
}
