/** Runs `kubenode why release`: explains what a commit waits for on its way, and what became of it where it failed. */
import type { Pipeline, Release } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { changeTrace, releasesOfChange } from '../../../observability/trace/sources/change.ts';
import { formatRelease } from '../../../views/release/text.ts';
import { COLUMNS, formatField } from '../../../views/text/wrap.ts';
import { findByName, readHub, releaseContext } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { explainReverts, formatReverts, type RevertExplanation } from './reverts.ts';
import { formatTrace } from './trace.ts';

export interface ReleaseExplanation {
  readonly release: string;
  readonly pipeline: string;
  readonly commit: string;
  readonly phase: string;
  readonly stage?: string;
  readonly waiting?: NonNullable<Release['status']>['waiting'];
  readonly failedClusters?: NonNullable<Release['status']>['failedClusters'];
  readonly supersededBy?: string;
  readonly reverts: readonly RevertExplanation[];
}

export async function whyRelease(io: Io, client: Client, name: string, output: OutputFormat): Promise<void> {
  const hub = await readHub(client, io.signal);
  const { pipelines, releases, clusters } = hub;
  const release = findRelease(releases, name);
  const explained = explainRelease(release, pipelines, releases);
  const trace = changeTrace(release, { releases: releasesOfChange(release, releases), clusters });
  if (output !== 'table') {
    printResult(io, output, { ...explained, trace }, () => ({ columns: [], rows: [] }));
    return;
  }
  const columns = io.screen()?.columns ?? COLUMNS;
  const now = io.clock.now();
  io.out(formatRelease(release, now, releaseContext(release, hub)));
  io.out(`\n${formatTrace(trace, now, columns)}`);
  io.out(`\n${formatReverts(explained.reverts, columns) || formatField('revert', NONE, columns)}`);
}

const NONE = 'no stage has failed that waits for a revert';

/** Finds a Release by its name, or by the commit that a component set or another object names. */
export function findRelease(releases: readonly Release[], name: string): Release {
  const byCommit = COMMIT.test(name)
    ? releases.filter(({ spec }) => spec.commit.startsWith(name.toLowerCase()))
    : [];
  const [only, ...others] = byCommit;
  return only && others.length === 0 ? only : findByName('Release', releases, name);
}

/** The beginning of a commit id that is long enough to be the only one. */
const COMMIT = /^[0-9a-f]{7,64}$/i;

export function explainRelease(
  { metadata, spec, status }: Release,
  pipelines: readonly Pipeline[],
  releases: readonly Release[],
): ReleaseExplanation {
  const { phase = 'Pending', stage, waiting, failedClusters, supersededBy } = status ?? {};
  const { commit, pipeline } = spec;
  const own = pipelines.filter(({ metadata: { name } }) => name === pipeline);
  return {
    release: metadata.name,
    pipeline,
    commit,
    phase,
    ...optional('stage', stage),
    ...optional('waiting', waiting),
    ...optional('failedClusters', failedClusters),
    ...optional('supersededBy', supersededBy),
    reverts: explainReverts({ commit, pipelines: own, releases }),
  };
}
