/** Plans the head of a pull request: renders it in the sandbox, judges it, and plans it on the clusters without writing to them. */
import type { Clock } from '../../os/clock.ts';
import { withDeadline } from '../../os/deadline.ts';
import type { ContentVerdict } from '../content-verdict.ts';
import { GitError, isRefusal } from '../git/errors.ts';
import type { GitRepository, GitTransport } from '../git/transport.ts';
import type { Preview } from '../preview/preview.ts';
import { isRenderError } from '../render/errors.ts';
import type { Rendered } from '../rendered.ts';
import type { GitHostType } from '../report/git-host.ts';
import { PULL_ADAPTERS } from './hosts/adapters.ts';

export interface CommitPlanQuestion {
  /** The name of the Pipeline, as the hub has it. */
  readonly pipeline: string;
  readonly from: Rendered;
  readonly to: Rendered;
  readonly git: GitRepository;
  /** The directory of the fleet in the repository. */
  readonly path: string;
  readonly signal: AbortSignal;
}

export interface CommitPlan {
  readonly preview: Preview;
  /** The notes besides the changes, such as closed windows. */
  readonly notes: readonly string[];
}

/** Plans a commit on the clusters of the hub, as `kubenode plan` does. Rejects when the hub cannot be read. */
export type PlanCommit = (question: CommitPlanQuestion) => Promise<CommitPlan>;

export type HeadPlan =
  | ({
      readonly outcome: 'Planned';
      /** Whether the head lacks the base: what was merged since then shows as taken back. */
      readonly isBehind: boolean;
    } & CommitPlan)
  | { readonly outcome: 'Refused'; readonly message: string };

export interface HeadQuestion {
  readonly number: number;
  readonly head: string;
  /** The newest accepted commit. */
  readonly base: string;
  readonly type: GitHostType;
}

/** Resolves for a head that is refused, whenever it is tried. Rejects when git, a render or the hub gives no answer. */
export type PlanPull = (question: HeadQuestion, signal: AbortSignal) => Promise<HeadPlan>;

export interface HeadPlanPorts {
  readonly git: GitTransport;
  readonly renders: {
    get(commit: string, signal?: AbortSignal): Promise<Rendered>;
    judge(commit: string, signal?: AbortSignal): Promise<ContentVerdict>;
  };
  readonly pipeline: string;
  readonly path: string;
  readonly planCommit: PlanCommit;
  readonly clock: Clock;
}

/** Fifty clusters take a minute. A cluster that hangs must not keep the other pull requests waiting. */
const LIMIT_MS = 600_000;

/** Plans the head of a pull request, within a time limit. */
export async function planHead(
  ports: HeadPlanPorts,
  question: HeadQuestion,
  signal: AbortSignal,
): Promise<HeadPlan> {
  const expired = (): Error => new Error(`the plan takes longer than ${LIMIT_MS / 60_000} min`);
  const limit = { clock: ports.clock, ms: LIMIT_MS, signal, expired };
  return await withDeadline(limit, (ended) => planWithin(ports, question, ended));
}

async function planWithin(
  ports: HeadPlanPorts,
  { number, head, base, type }: HeadQuestion,
  signal: AbortSignal,
): Promise<HeadPlan> {
  const { git, renders, pipeline, path, planCommit } = ports;
  const ref = PULL_ADAPTERS[type].ref(number);
  const refusal = await refusalOf(ports, { head, ref }, signal);
  if (refusal !== undefined) return { outcome: 'Refused', message: refusal };
  const [from, to] = [await renders.get(base, signal), await renders.get(head, signal)];
  const ancestry = await git.ancestry({ ancestor: base, head, ref }, signal);
  const plan = await planCommit({ pipeline, from, to, git, path, signal });
  return { outcome: 'Planned', isBehind: ancestry === 'older' || ancestry === 'diverged', ...plan };
}

/** Returns why the commit would not be applied. Its objects are judged by the process with limits that sync uses for each head. */
async function refusalOf(
  { git, renders }: HeadPlanPorts,
  { head, ref }: { readonly head: string; readonly ref: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const fetched = await git.fetch(ref, signal);
    if (fetched !== head) {
      throw new GitError('NotFoundObject', `${ref} is at ${fetched}, and the git host listed ${head}`, {
        where: git.display,
      });
    }
    const verdict = await renders.judge(head, signal);
    return verdict.accepted ? undefined : verdict.message;
  } catch (error) {
    if (!isRenderError(error) && !isRefusal(error)) throw error;
    return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  }
}
