import { describe, expect, it } from 'vitest';
import {
  type FleetProcess,
  type MetricsTarget,
  planTargets,
  scrapeTargetFile,
  scrapeTargetOf,
} from '../../../src/demo/metrics/targets.ts';

function processOf(line: string, ...listening: readonly number[]): FleetProcess {
  return { args: line.split(' '), listening };
}

const AGENT = 'agent run --machine m-1 --host sandbox --directory /f/clusters/test/machines/u/host';
const HOSTED = 'agent run --machine m-2 --directory=/f-hosting/clusters/eu/clusters/eu/machines/u/host';

describe('scrapeTargetOf', () => {
  it.each<[name: string, process: FleetProcess, want: string | undefined]>([
    ['the port of an option', processOf('sync --port 8080', 1, 2), 'sync 127.0.0.1:8080 {}'],
    ['the other form of it', processOf('hosting --port=8080'), 'hosting 127.0.0.1:8080 {}'],
    ['a free port that was selected', processOf('sync --port 0', 81), 'sync 127.0.0.1:81 {}'],
    ['no port of several', processOf('sync --port 0 --webhook-port 0', 81, 82), undefined],
    ['no port of another purpose', processOf('sync --webhook-port 81', 81), undefined],
    ['no port that is not a number', processOf('sync --port $PORT', 81), undefined],
    ['no page of the console', processOf('console --port 8484', 8484), undefined],
    ['a cluster', processOf('controllers --context eu --port 1'), 'controllers 127.0.0.1:1 {"cluster":"eu"}'],
    [
      'a hosted cluster',
      processOf('controllers --port=1 --local-machines=eu'),
      'controllers 127.0.0.1:1 {"cluster":"eu"}',
    ],
    ['no cluster that is not named', processOf('controllers --port 1'), 'controllers 127.0.0.1:1 {}'],
    ['an address for other machines', processOf('sync --port 1 --host 10.0.0.1'), 'sync 10.0.0.1:1 {}'],
    ['all addresses', processOf('sync --port 1 --host 0.0.0.0'), 'sync 127.0.0.1:1 {}'],
    ['an IPv6 address', processOf('sync --port 1 --host ::1'), 'sync [::1]:1 {}'],
    [
      'an agent',
      processOf(AGENT, 91),
      'agent 127.0.0.1:91 {"cluster":"test","machine":"m-1","instance":"m-1"}',
    ],
    [
      'an agent of a hosted cluster',
      processOf(HOSTED, 91),
      'agent 127.0.0.1:91 {"cluster":"eu","machine":"m-2","instance":"m-2"}',
    ],
    ['no agent that does not listen yet', processOf(AGENT), undefined],
    ['no simulator', processOf('agent simulate --instances /f', 91), undefined],
  ])('finds %s', (_, process, want) => {
    const target = scrapeTargetOf(process);
    const text = target && `${target.job} ${target.address} ${JSON.stringify(target.labels)}`;
    expect(text).toBe(want);
  });
});

describe('planTargets', () => {
  const sync: MetricsTarget = { job: 'sync', address: '127.0.0.1:1', labels: {} };

  it('DAT-08 keeps what shall run while it does not, and drops what came and went', () => {
    const agent = processOf(AGENT, 91);
    const both = planTargets([sync], [processOf('sync --port 1'), agent]);
    expect(both.map(({ address }) => address)).toEqual(['127.0.0.1:91', '127.0.0.1:1']);
    expect(planTargets([sync], [])).toEqual([sync]);
  });

  it('is the same for each order of the processes, so that files change only with the targets', () => {
    const processes = [
      processOf('controllers --context b --port 2'),
      processOf('controllers --context a --port 3'),
    ];
    expect(planTargets([sync], processes)).toEqual(planTargets([sync], processes.toReversed()));
  });
});

describe('scrapeTargetFile', () => {
  it('has the targets of one job, and an empty list without any', () => {
    const targets = planTargets(
      [],
      [processOf('controllers --context a --port 3'), processOf('sync --port 1')],
    );
    expect(JSON.parse(scrapeTargetFile(targets, 'controllers'))).toEqual([
      { targets: ['127.0.0.1:3'], labels: { cluster: 'a' } },
    ]);
    expect(JSON.parse(scrapeTargetFile(targets, 'agent'))).toEqual([]);
  });
});
