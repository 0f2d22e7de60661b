/** A lane for each stage: the commits that move through it, and a card for each cluster. */
import type { JSX } from 'preact';
import {
  type ClusterGroupView,
  hasSeveralPipelines,
  NO_STAGE,
  type StageGroup,
  type StagePlace,
} from '../../state/fleet.ts';
import { clusterHealthView } from '../../state/health.ts';
import { pageAddress } from '../../state/pages/address.ts';
import { stageSoaks } from '../../state/pages/soaks.ts';
import type { ConsoleState } from '../../state/state.ts';
import { Badge, countText, Since } from '../parts/parts.tsx';

interface LanesProps extends Pick<ConsoleState, 'pipelines' | 'commits'> {
  readonly stages: readonly StageGroup[];
  readonly now: number;
  /** The name of the only cluster that is shown. Undefined: all are. */
  readonly only: string | undefined;
}

export function Lanes({ stages, pipelines, commits, now, only }: LanesProps): JSX.Element {
  const isNamed = hasSeveralPipelines(stages);
  return (
    <>
      <Pipelines pipelines={pipelines} now={now} />
      <ol class="lanes">
        {stages.map(({ pipeline, stage, clusters }) => (
          <li class="lane" key={`${pipeline}/${stage}`} style={{ flexGrow: laneWidth(clusters.length) }}>
            <h3>
              {stage === NO_STAGE ? 'No stage yet' : `Stage ${stage}`}
              {isNamed && pipeline !== '' && <span class="soft"> of {pipeline}</span>}
            </h3>
            <LaneSummary clusters={clusters} />
            <Soaks commits={commits} pipeline={pipeline} stage={stage} now={now} />
            <div class="clusters">
              {clusters
                .filter(({ line }) => only === undefined || line.name === only)
                .map((group) => (
                  <ClusterCard key={group.line.name} group={group} now={now} />
                ))}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The share of the width that a stage gets: later stages have more clusters, and must not push the machines off the screen. */
function laneWidth(clusters: number): number {
  return Math.min(MAX_COLUMNS, Math.ceil(clusters / 2));
}

const MAX_COLUMNS = 4;

/** Shows how many clusters of a stage have which commit, where there are several. */
function LaneSummary({ clusters }: Pick<StageGroup, 'clusters'>): JSX.Element | null {
  if (clusters.length < 2) return null;
  const commits = Map.groupBy(clusters, ({ line }) => line.commit);
  return (
    <p class="chips">
      {[...commits].map(([commit, own]) => (
        <span class="chip" key={commit}>
          <code>{commit}</code> {countText(own.length)} of {countText(clusters.length)} clusters
        </span>
      ))}
    </p>
  );
}

interface SoaksProps extends Pick<LanesProps, 'commits' | 'now'>, StagePlace {}

function Soaks({ commits, pipeline, stage, now }: SoaksProps): JSX.Element {
  return (
    <>
      {stageSoaks(commits, { pipeline, stage }, now).map(({ commit, until, done }) => (
        <div key={commit}>
          <progress class="thin" value={done} aria-label={`Soak of ${commit} in ${stage}`} />
          <span class="soft">
            <code>{commit}</code> soaking until <time dateTime={until}>{until}</time>
          </span>
        </div>
      ))}
    </>
  );
}

interface ClusterProps {
  readonly group: ClusterGroupView;
  readonly now: number;
}

function ClusterCard({ group, now }: ClusterProps): JSX.Element {
  const { name, commit, state, since, because, stale } = group.line;
  const { health, machines } = clusterHealthView(group);
  return (
    <article class="card cluster" aria-label={`Cluster ${name}`}>
      <div class="fact ends">
        <h4>
          <a href={pageAddress('fleet', { cluster: name })}>{name}</a>
        </h4>
        <Since since={since} now={now} />
      </div>
      <p class="fact">
        <span class="hidden">commit</span>{' '}
        <code key={commit} class="commit">
          {commit}
        </code>{' '}
        <Badge state={state} />
      </p>
      <p class="fact">
        <span class="hidden">health</span> <Badge state={health} />{' '}
        {machines !== undefined && (
          <span class="soft">
            {countText(machines.ready)}
            <span aria-hidden="true">/</span>
            <span class="hidden"> of </span>
            {countText(machines.total)} <span class="hidden">machines</span> Ready
          </span>
        )}
      </p>
      {because !== '' && <p class="because">{because}</p>}
      {stale !== undefined && <p class="badge bad">! {stale}</p>}
    </article>
  );
}

function Pipelines({ pipelines, now }: Pick<LanesProps, 'pipelines' | 'now'>): JSX.Element | null {
  const all = Object.values(pipelines);
  if (all.length === 0) return null;
  return (
    <ul class="plain pipelines" aria-label="Pipelines">
      {all.map(({ name, phase, commit, verdict, because, since }) => (
        <li key={name}>
          <strong>{name}</strong> <Badge state={phase} /> <code>{commit}</code> {verdict}{' '}
          <Since since={since} now={now} /> <span class="soft">{because}</span>
        </li>
      ))}
    </ul>
  );
}
