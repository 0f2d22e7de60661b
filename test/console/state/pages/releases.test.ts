import { describe, expect, it } from 'vitest';
import { type ReleaseCell, releaseMatrix } from '../../../../src/console/state/pages/releases.ts';
import type { ClusterLine, ConsoleState } from '../../../../src/console/state/state.ts';
import type { CommitStageView, CommitView } from '../../../../src/views/release/commit-view.ts';
import { clusterLine } from '../../fixtures.ts';

function commitView(commit: string, created: string, ...stages: readonly CommitStageView[]): CommitView {
  return { name: `fleet-${commit}`, pipeline: 'fleet', commit, phase: 'Promoting', created, stages };
}

function stageView(name: string, state: string, fields: Partial<CommitStageView> = {}): CommitStageView {
  return { name, state, proven: 1, total: 2, plan: '', because: '', ...fields };
}

function stateWith(
  lines: readonly ClusterLine[],
  ...commits: readonly CommitView[]
): Pick<ConsoleState, 'clusters' | 'commits'> {
  return {
    commits: Object.fromEntries(commits.map((view) => [view.name, view])),
    clusters: Object.fromEntries(lines.map((line, order) => [line.name, { ...line, order }])),
  };
}

function fleetLine(name: string, fields: Partial<ClusterLine>): ClusterLine {
  return clusterLine(name, { pipeline: 'fleet', ...fields });
}

function cellText(cell: ReleaseCell | undefined): string {
  return cell ? `${cell.state}: ${cell.clusters}` : '-';
}

describe('releaseMatrix', () => {
  it('has a column for each stage and a row for each Release, the newest first, then the commits without one', () => {
    const lines = [fleetLine('t', { stage: 'test', commit: 'c2' }), fleetLine('a', { commit: 'c0' })];
    const { stages, rows } = releaseMatrix(
      stateWith(
        lines,
        commitView('c1', '2030-01-01T00:00:00Z', stageView('test', 'Superseded')),
        commitView('c2', '2030-01-02T00:00:00Z', stageView('test', 'Proven'), stageView('prod', 'Waiting')),
      ),
    );
    expect(stages).toEqual([
      { pipeline: 'fleet', stage: 'test' },
      { pipeline: 'fleet', stage: 'prod' },
    ]);
    expect(rows.map(({ commit, release, cells }) => [commit, release?.name, cells.map(cellText)])).toEqual([
      ['c2', 'fleet-c2', ['Proven: 1 of 2 clusters proven', 'Waiting: 1 of 2 clusters proven']],
      ['c1', 'fleet-c1', ['Superseded: 1 of 2 clusters proven', '-']],
      ['c0', undefined, ['-', 'Proven: 1 of 1 clusters run it']],
    ]);
  });

  it('keeps what a stage waits for, what the commit changes there and until when it soaks', () => {
    const fields = {
      since: '2030-01-01T00:00:00Z',
      soakUntil: '2030-01-01T01:00:00Z',
      plan: '1 of 2 clusters change',
      because: 'prod needs an approval',
    };
    const { rows } = releaseMatrix(stateWith([], commitView('c1', '', stageView('prod', 'Soaking', fields))));
    expect(rows[0]?.cells).toEqual([{ state: 'Soaking', clusters: '1 of 2 clusters proven', ...fields }]);
  });

  it('shows of several clusters without a Release the state that needs a person first', () => {
    const since = '2030-01-01T00:00:00Z';
    const { rows } = releaseMatrix(
      stateWith([
        fleetLine('a', { commit: 'c3' }),
        fleetLine('b', { commit: 'c3', state: 'Failed', because: 'a gate failed', since }),
        fleetLine('c', { commit: 'c3', state: 'Applying' }),
      ]),
    );
    expect(rows[0]?.cells[0]).toEqual({
      state: 'Failed',
      clusters: '3 of 3 clusters run it',
      because: 'a gate failed',
      plan: '',
      since,
    });
  });

  it('keeps the stages of two Pipelines apart, also of a commit that both have', () => {
    const edge = {
      ...commitView('c1', '2030-01-02T00:00:00Z', stageView('prod', 'Soaking')),
      pipeline: 'edge',
    };
    const lines = [
      clusterLine('a', { pipeline: 'edge', commit: 'c1' }),
      fleetLine('b', { commit: 'c1', state: 'Applying' }),
      fleetLine('c', { commit: 'c0' }),
    ];
    const { rows } = releaseMatrix(stateWith(lines, edge));
    expect(rows.map(({ pipeline, commit, cells }) => [pipeline, commit, cells.map(cellText)])).toEqual([
      ['edge', 'c1', ['Soaking: 1 of 2 clusters proven', '-']],
      ['fleet', 'c1', ['-', 'Applying: 1 of 2 clusters run it']],
      ['fleet', 'c0', ['-', 'Proven: 1 of 2 clusters run it']],
    ]);
  });

  it('has no row for a cluster without a commit', () => {
    expect(releaseMatrix(stateWith([clusterLine('here', { stage: '', commit: '-' })])).rows).toEqual([]);
  });
});
