/** The open repository of a Pipeline, with the objects of the hub itself, which follow its newest accepted commit. */
import type { Pipeline } from '../../../api/generated/types.ts';
import { acceptedHeads } from '../../accepted-heads.ts';
import { pushCommit } from '../../git/push/push.ts';
import type { SignatureQuestion } from '../../git/transport.ts';
import { webhookReport } from '../../intake/report.ts';
import { createPlanCommenter } from '../../pulls/commenter.ts';
import type { PlanCommit } from '../../pulls/head-plan.ts';
import type { CommitRenderer } from '../../render/renderer.ts';
import { createStatusReporter } from '../../report/reporter.ts';
import { sendToGitHost } from '../../report/send.ts';
import type { HostTokens } from '../../report/tokens/host-tokens.ts';
import { createReverter } from '../../revert/reverter.ts';
import type { VerdictMemory } from '../acceptance/commit-checks.ts';
import { signaturePolicy } from '../acceptance/head-signatures.ts';
import { identityQuestion } from '../acceptance/identities.ts';
import { newestReleasedCommit, unreleasedCommits } from '../commit-log.ts';
import { openRepository } from '../repository.ts';
import { createOwnObjects, type OwnObjects, type OwnObjectsOptions } from './own-objects.ts';
import { createPullPlans } from './pull-plans.ts';
import { createPipelineSource, type PipelineSource } from './source.ts';

export interface PipelineSession {
  readonly version: string;
  readonly source: PipelineSource;
  readonly ownObjects: OwnObjects;
  close(): Promise<void>;
}

export interface PipelineSessionOptions extends OwnObjectsOptions {
  readonly renderer: CommitRenderer;
  readonly verdicts: VerdictMemory;
  /** The version of the repository: its address and its credentials. */
  readonly version: string;
  /** The commits that the clusters of a Pipeline report: they may be newer than a restored hub. */
  readonly clusterCommits: (pipeline: string) => readonly string[];
  readonly gitFolder: string;
  readonly tokens: HostTokens;
  /** Whether this sync receives webhooks. */
  readonly receivesWebhooks: boolean;
  /** Plans pull requests on the clusters. Absent: none is planned. */
  readonly planCommit?: PlanCommit;
}

export function openPipelineSession(pipeline: Pipeline, options: PipelineSessionOptions): PipelineSession {
  const { name, hub, clusterCommits, version } = options;
  const { releases, pipelines, secrets } = hub.stores;
  const stop = new AbortController();
  const git = openRepository(pipeline, { ...options, secrets }, options.gitFolder);
  const ownObjects = createOwnObjects(options);
  const statuses = createStatusReporter({
    ...options,
    pipeline: () => pipelines.get(name),
    releases: () => releases.byIndex('pipeline', name),
    secrets,
    send: sendToGitHost,
    record: (accepted) => hub.recordCommitStatuses(name, accepted, options.lease.fence),
  });
  const pullPlans = createPullPlans(pipeline, { ...options, secrets });
  const plans = createPlanCommenter({
    ...options,
    pipeline: () => pipelines.get(name),
    secrets,
    newestAccepted: () => source.newestAccepted(),
    planPull: pullPlans.planPull,
    send: sendToGitHost,
    record: (comments) => hub.recordPlanComments(name, comments, options.lease.fence),
  });
  const reverts = createReverter({
    ...options,
    pipeline: () => pipelines.get(name),
    releases: () => releases.byIndex('pipeline', name),
    secrets,
    git,
    newestAccepted: () => source.newestAccepted(),
    signatures: () => requiredSignatures(pipelines.get(name) ?? pipeline),
    push: pushCommit,
    send: sendToGitHost,
    record: (made) => hub.recordReverts(name, made, options.lease.fence),
    recordEvent: (event) => options.recordEvent?.(name, event),
  });
  const report = (): void => {
    statuses.requeue();
    plans.requeue();
    reverts.requeue();
  };
  const changes = { added: report, updated: report, removed: report };
  const subscriptions = [releases.subscribe(changes), pipelines.subscribe(changes)];
  const source = createPipelineSource({
    ...options,
    pipeline,
    git,
    appliedCommits: () => unreleasedCommits(clusterCommits(name), releases.list()),
    newestReleasedCommit: () => newestReleasedCommit(name, releases.list()),
    hasRelease: (commit) => releases.byIndex('pipeline', name).some(({ spec }) => spec.commit === commit),
    acceptedHeads: () => [pipelines.get(name)].flatMap((current) => (current ? acceptedHeads(current) : [])),
    keys: () => options.keys(name),
    signatures: () => signaturePolicy(pipelines.get(name) ?? pipeline),
    identities: () => identityQuestion(pipelines.get(name) ?? pipeline),
    hubProblem: () => ownObjects.problem(),
    webhook: () => webhookReport(pipelines.get(name), secrets, options),
    commitStatus: () => statuses.report(),
    planComments: () => plans.report(),
    reverts: () => reverts.report(),
  });
  const polling = source.run(stop.signal);
  return {
    version,
    source,
    ownObjects,
    async close() {
      stop.abort();
      // The source first: the others may wait for a render.
      const closing = source.close();
      for (const unsubscribe of subscriptions) unsubscribe();
      await plans.close();
      await pullPlans.close();
      await statuses.close();
      await reverts.close();
      await ownObjects.close();
      await polling;
      await closing;
    },
  };
}

/** Returns undefined where no commit has to be signed. */
function requiredSignatures(pipeline: Pipeline): Pick<SignatureQuestion, 'mode' | 'signers'> | undefined {
  const { mode, signers } = signaturePolicy(pipeline);
  return mode === 'None' ? undefined : { mode, signers };
}
