/** Writes the plan of one pull request to the git host: a comment, which is replaced by the next one, and a commit status. */
import type { Pipeline, PlannedPullRequest } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { HostCallError } from '../report/outcome.ts';
import { commentMarker, type PullComment, pullComment } from './comment.ts';
import type { PlanPull } from './head-plan.ts';
import type { PullHost } from './host.ts';
import type { CommentText, PullRequest } from './hosts/adapter.ts';
import { createPendingPlans } from './pending.ts';
import type { PlanDestination } from './target.ts';

export interface PlanWriterOptions {
  readonly planPull: PlanPull;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PlanJob {
  readonly pipeline: Pipeline;
  readonly target: PlanDestination;
  readonly host: Pick<PullHost, 'findComment' | 'writeComment' | 'setStatus'>;
  readonly pull: PullRequest;
  /** The newest accepted commit. */
  readonly base: string;
  /** The plan that the host has, as recorded in the hub. */
  readonly before: PlannedPullRequest | undefined;
}

/** A plan, and the comment that has it already. */
interface MadePlan extends PullComment {
  writtenTo?: string;
}

export interface PlanWriter {
  /** Resolves when the host has comment and status. After an error the same call continues with the plan that was made. */
  write(job: PlanJob, signal: AbortSignal): Promise<PlannedPullRequest>;
  /** Returns the pull request whose plan is made and not written yet, if it is still open with that head. */
  unwritten(open: readonly PullRequest[]): PullRequest | undefined;
  forget(): void;
}

export function createPlanWriter({ planPull, clock, log }: PlanWriterOptions): PlanWriter {
  const pending = createPendingPlans<MadePlan>();
  return { write, unwritten: (open) => pending.pull(open), forget: () => pending.forget() };

  async function write(job: PlanJob, signal: AbortSignal): Promise<PlannedPullRequest> {
    const { pipeline, host, pull, base, before } = job;
    const { number, head } = pull;
    const marker = markerOf(job);
    const made = await pending.get(pull, base, async () => {
      const plan = await planPull({ ...pull, base, type: job.target.project.type }, signal);
      return { ...pullComment({ marker, pipeline: pipeline.metadata.name, head, base, plan }) };
    });
    const { body, writtenTo, ...written } = made;
    const text = { number, body, ...optional('comment', before?.comment) };
    const comment = writtenTo ?? (await writeComment(host, text, marker));
    made.writtenTo = comment;
    const { state, message } = written;
    // A host keeps a limited number of statuses of a commit, and a plan may be made again every ten minutes for weeks.
    if (!hasStatus(before, { head, state, message })) await host.setStatus({ commit: head, state, message });
    pending.forget();
    log.info('pull request planned', { pipeline: pipeline.metadata.name, pull: number, commit: head, state });
    return { number, head, base, comment, ...written, plannedAt: clock.now().toISOString() };
  }
}

function hasStatus(
  before: PlannedPullRequest | undefined,
  { head, state, message }: Pick<PlannedPullRequest, 'head' | 'state' | 'message'>,
): boolean {
  return before?.head === head && before.state === state && before.message === message;
}

function markerOf({ pipeline, target, pull }: PlanJob): string {
  const { uid = '' } = pipeline.metadata;
  return commentMarker({ uid, address: target.address, number: pull.number });
}

/** Looks for the comment before it creates one: the host may have created it although it answered an error, or the record of it was lost. */
async function writeComment(host: PlanJob['host'], text: CommentText, marker: string): Promise<string> {
  if (text.comment !== undefined) {
    const written = await host.writeComment(text).catch((error: unknown) => {
      if (isDeleted(error)) return undefined;
      throw error;
    });
    if (written !== undefined) return written;
  }
  const { number, body } = text;
  const found = await host.findComment(number, marker);
  return await host.writeComment({ number, body, ...optional('comment', found) });
}

/** A person deleted the comment. */
function isDeleted(error: unknown): boolean {
  return error instanceof HostCallError && error.failure.reason === 'NotFound';
}
