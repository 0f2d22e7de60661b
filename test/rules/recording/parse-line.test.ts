import { describe, expect, it } from 'vitest';
import { parseRecordedLine } from '../../../src/rules/recording/parse-line.ts';
import { OBJECT_VIEWS } from '../../../src/rules/views.ts';
import { machine, node } from '../../support/builders.ts';
import { remedyJob } from '../../support/remediers.ts';

const AT = '2030-01-01T12:00:00.000Z';
const STARTED = {
  type: 'Started',
  at: AT,
  format: 'kubenode-facts',
  version: 1,
  kubenode: '0.1.0',
  cluster: { uid: 'u', server: 's' },
};
const VIEWS = OBJECT_VIEWS.join(', ');
const job = remedyJob();

function problemOf(line: unknown): string | undefined {
  const parsed = parseRecordedLine(typeof line === 'string' ? line : JSON.stringify(line));
  return 'problem' in parsed ? parsed.problem : undefined;
}

describe('parseRecordedLine', () => {
  it.each<[name: string, line: object]>([
    ['a start', STARTED],
    ['a Node', { type: 'Put', at: AT, view: 'nodes', object: node('constructor') }],
    ['a Machine', { type: 'Put', at: AT, view: 'machines', object: machine('__proto__') }],
    ['a job', { type: 'Put', at: AT, view: 'jobs', object: job }],
    ['a delete', { type: 'Delete', at: AT, view: 'events', name: 'default/e' }],
    ['heartbeats', { type: 'Heartbeat', at: AT, node: 'n', times: { constructor: AT } }],
    ['an agent', { type: 'Lease', at: AT, view: 'agentLeases', name: 'm' }],
    ['a silent agent', { type: 'Lease', at: AT, view: 'agentLeases', name: 'm', silentSince: AT }],
    ['the end of the initial lists', { type: 'Synced', at: AT }],
    ['a view without contact', { type: 'Contact', at: AT, view: 'nodes', lostSince: AT }],
    ['a tick', { type: 'Tick', at: AT }],
  ])('accepts %s with its time', (_, line) => {
    expect(parseRecordedLine(JSON.stringify(line))).toEqual({ line, atMs: Date.parse(AT) });
  });

  it.each<[line: unknown, problem: string]>([
    ['{"at":', 'expected JSON'],
    ['[]', 'expected a JSON object'],
    ['null', 'expected a JSON object'],
    [{ type: 'Tick' }, 'expected a time in field at'],
    [{ type: 'Tick', at: 'noon' }, 'expected a time in field at'],
    [
      { type: 'constructor', at: AT },
      'expected one of Started, Put, Delete, Heartbeat, Lease, Synced, Contact, Tick in field type',
    ],
    [{ ...STARTED, format: 'pcap' }, 'expected format kubenode-facts, got "pcap"'],
    [{ ...STARTED, version: 2 }, 'expected version 1 of the format, got 2'],
    [{ ...STARTED, cluster: {} }, 'expected the UID of the cluster in field cluster.uid'],
    [{ type: 'Put', at: AT, view: 'weather', object: node('n') }, `expected one of ${VIEWS} in field view`],
    [{ type: 'Put', at: AT, view: 'constructor' }, `expected one of ${VIEWS} in field view`],
    [{ type: 'Put', at: AT, view: 'nodes' }, 'expected an object with metadata.name in field object'],
    [
      { type: 'Put', at: AT, view: 'nodes', object: { metadata: { name: 7 } } },
      'expected a name in field name',
    ],
    [
      { type: 'Put', at: AT, view: 'machines', object: node('n') },
      'expected an object with spec.node in field object',
    ],
    [
      { type: 'Put', at: AT, view: 'jobs', object: { ...job, spec: { ...job.spec, plan: undefined } } },
      'expected an object with spec.plan in field object',
    ],
    [
      { type: 'Lease', at: AT, view: 'nodes', name: 'n' },
      'expected one of agentLeases, nodeLeases in field view',
    ],
    [{ type: 'Delete', at: AT, view: 'nodes', name: '' }, 'expected a name in field name'],
    [
      { type: 'Heartbeat', at: AT, node: 'n', times: [AT] },
      'expected times by type of condition in field times',
    ],
    [
      { type: 'Heartbeat', at: AT, node: 'n', times: { Ready: 1 } },
      'expected times by type of condition in field times',
    ],
    [
      { type: 'Lease', at: AT, view: 'agentLeases', name: 'm', silentSince: 'then' },
      'expected a time in field silentSince',
    ],
    [{ type: 'Contact', at: AT, view: 'nodes', lostSince: 4 }, 'expected a time in field lostSince'],
  ])('refuses %j', (line, problem) => {
    expect(problemOf(line)).toBe(problem);
  });
});
