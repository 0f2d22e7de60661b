import { describe, expect, it } from 'vitest';
import {
  dueRequests,
  type PeerFindings,
  reportedAnswers,
  updateFindings,
} from '../../../src/agent/peers/plan.ts';
import type { PeerResult } from '../../../src/api/enums.ts';
import type { PeerProbeRequest } from '../../../src/api/generated/types.ts';
import { ago, NOW } from '../../support/builders.ts';

const NONE: PeerFindings = new Map();

function request(machine: string, since = ago(60)): PeerProbeRequest {
  return { machine, address: '10.0.0.1', port: 10_250, since };
}

function requests(count: number): readonly PeerProbeRequest[] {
  return Array.from({ length: count }, (_, index) => request(`s-${index}`));
}

const outcome = (asked: PeerProbeRequest, result: PeerResult = 'NoAnswer', probedMs = 0) => ({
  request: asked,
  result,
  probedMs,
});
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);
const names = (found: readonly PeerProbeRequest[]): readonly string[] => found.map(({ machine }) => machine);

describe('dueRequests', () => {
  it('R20 probes each machine at once, and then every thirty seconds', () => {
    const asked = requests(2);
    expect(names(dueRequests(asked, NONE, 0))).toEqual(['s-0', 's-1']);
    const [first = request('s-0')] = asked;
    const findings = updateFindings(NONE, asked, [outcome(first, 'NoAnswer', 1000)], NOW);
    expect(names(dueRequests(asked, findings, 30_999))).toEqual(['s-1']);
    expect(names(dueRequests(asked, findings, 31_000))).toEqual(['s-0', 's-1']);
  });

  it('R20 probes at most eight machines, however many are asked for', () => {
    const asked = requests(100);
    expect(dueRequests(asked, NONE, 0)).toHaveLength(8);
    const findings = updateFindings(
      NONE,
      asked,
      asked.map((each) => outcome(each)),
      NOW,
    );
    expect(findings.size).toBe(8);
    expect(dueRequests(asked, findings, 29_999)).toEqual([]);
  });

  it('R20 is not hurried by another address of the same machine', () => {
    const [asked = request('s-0')] = requests(1);
    const findings = updateFindings(NONE, [asked], [outcome(asked)], NOW);
    expect(dueRequests([{ ...asked, address: '10.0.0.2', since: ago(1) }], findings, 1000)).toEqual([]);
  });
});

describe('updateFindings', () => {
  const asked = request('s-1');
  const first = updateFindings(NONE, [asked], [outcome(asked)], NOW);
  const next = (at: Date, result: PeerResult = 'NoAnswer', again = asked) =>
    reportedAnswers(updateFindings(first, [again], [outcome(again, result, 30_000)], at));
  const known = {
    machine: 's-1',
    result: 'NoAnswer',
    requestedAt: asked.since,
    since: NOW.toISOString(),
    lastProbeTime: NOW.toISOString(),
  };

  it('R20 reports a result with the time of its request', () => {
    expect(reportedAnswers(first)).toEqual([known]);
  });

  it('R20 writes a result that stays the same every two minutes, so that it does not become stale', () => {
    expect(next(after(119))).toEqual([known]);
    expect(next(after(120))).toEqual([{ ...known, lastProbeTime: after(120).toISOString() }]);
    expect(next(after(-1))).toEqual([{ ...known, lastProbeTime: after(-1).toISOString() }]);
  });

  it('R20 reports another result, and the answer to another request, at once', () => {
    const at = after(30).toISOString();
    const changed = { ...known, since: at, lastProbeTime: at };
    expect(next(after(30), 'PortOpen')).toEqual([{ ...changed, result: 'PortOpen' }]);
    const again = request('s-1', ago(5));
    expect(next(after(30), 'NoAnswer', again)).toEqual([{ ...changed, requestedAt: again.since }]);
  });

  it('R20 forgets machines that are not asked about any more, and sorts the others', () => {
    const both = [request('s-2'), request('s-1')];
    const findings = updateFindings(
      NONE,
      both,
      both.map((each) => outcome(each)),
      NOW,
    );
    expect(reportedAnswers(findings).map(({ machine }) => machine)).toEqual(['s-1', 's-2']);
    expect(updateFindings(findings, [], [], NOW).size).toBe(0);
    expect([...updateFindings(findings, [request('s-2')], [], NOW).keys()]).toEqual(['s-2']);
  });

  it('R20 keeps what it knows of a machine whose probe has no outcome yet', () => {
    expect(reportedAnswers(updateFindings(first, [asked], [], after(10)))).toEqual([known]);
  });
});
