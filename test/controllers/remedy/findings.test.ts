import { describe, expect, it } from 'vitest';
import {
  findingsOf,
  findingsOn,
  nextFinding,
  type RemedyFinding,
} from '../../../src/controllers/remedy/findings.ts';
import type { RuleOutcome } from '../../../src/rules/compiled-rule.ts';
import { NOW } from '../../support/builders.ts';

const CLEAR_SECONDS = 600;

/** `Match@0 NoMatch@10`: the outcomes at these seconds. */
function after(history: string, recorded?: Date): RemedyFinding | undefined {
  let finding: RemedyFinding | undefined;
  for (const word of history.split(' ')) {
    const [outcome = '', seconds = ''] = word.split('@');
    finding = nextFinding({
      before: finding,
      result: { outcome: outcome as RuleOutcome, because: word },
      recorded,
      clearSeconds: CLEAR_SECONDS,
      now: at(Number(seconds)),
    });
  }
  return finding;
}

function at(seconds: number): Date {
  return new Date(+NOW + seconds * 1000);
}

describe('the start of a fault', () => {
  it.each<[string, number | undefined]>([
    ['Match@0', 0],
    ['NoMatch@0 Match@50', 50],
    ['Match@0 Held@50 Match@100', 0],
    ['Match@0 NoMatch@50 Match@100', 0],
    ['Match@0 NoMatch@50 NoMatch@649 Match@700', 0],
    ['Match@0 NoMatch@50 NoMatch@650 Match@700', 700],
    ['Match@0 NoMatch@50 NoMatch@650', undefined],
    ['Match@0 NoMatch@50 Indeterminate@400 NoMatch@650 Match@700', 0],
    ['Indeterminate@0', undefined],
    ['Match@0 Indeterminate@9999', 0],
  ])('after %s is at %s', (history, seconds) => {
    expect(after(history)?.since).toEqual(seconds === undefined ? undefined : at(seconds));
  });

  it.each<[string, number | undefined]>([
    ['Match@0 Held@50 Match@100', 0],
    ['Match@0 Indeterminate@50 Match@100', 0],
    ['Match@0 NoMatch@50 Match@100', 100],
    ['Match@0 NoMatch@50 Indeterminate@60 Match@100 Match@200', 100],
    ['Match@0 NoMatch@50', undefined],
  ])('is apart from the last time that its conditions became true: after %s', (history, seconds) => {
    expect(after(history)?.matchedSince).toEqual(seconds === undefined ? undefined : at(seconds));
  });

  it('is what was recorded before this process, and unknown when nothing was recorded', () => {
    expect(after('Match@0', at(-100))).toMatchObject({ since: at(-100), isSinceKnown: true });
    expect(after('Match@0')?.isSinceKnown).toBe(false);
    expect(after('NoMatch@0 Match@50')?.isSinceKnown).toBe(true);
  });
});

describe('the changes of a fault', () => {
  it.each<[string, readonly number[]]>([
    ['Match@0', []],
    ['NoMatch@0', []],
    ['Indeterminate@0 Match@5', []],
    ['NoMatch@0 Match@50 Match@60 NoMatch@70', [50, 70]],
    ['NoMatch@0 Held@50 Match@60 Held@70', [50]],
    ['Match@0 Indeterminate@50 Match@100', []],
    ['Match@0 Indeterminate@50 NoMatch@100 Indeterminate@110 NoMatch@120 Match@130', [100, 130]],
    ['Match@0 NoMatch@50 NoMatch@9000 Match@9001', [50, 9001]],
  ])('R5 are counted when they are known: after %s at %j', (history, seconds) => {
    expect(after(history)?.changes ?? []).toEqual(seconds.map(at));
  });

  it('R5 are the newest 101, so that a machine that flaps for days takes no memory', () => {
    const words = Array.from({ length: 400 }, (_, index) => `${index % 2 ? 'Match' : 'NoMatch'}@${index}`);
    const changes = after(words.join(' '))?.changes ?? [];
    expect(changes).toHaveLength(101);
    expect(changes.at(-1)).toEqual(at(399));
  });
});

describe('the detection of a fault', () => {
  it.each<[string, number | undefined]>([
    ['Match@0', 0],
    ['NoMatch@0 Match@50 Match@60', 50],
    ['Held@10 Match@50', 10],
    ['Match@0 Indeterminate@50 Match@100', 0],
    ['Match@0 NoMatch@50 Match@100', 0],
    ['Match@0 NoMatch@50 NoMatch@650 Match@700', 700],
    ['NoMatch@0', undefined],
  ])('after %s is at %s, however long the fault was there before', (history, seconds) => {
    expect(after(history, at(-3600))?.detectedAt).toEqual(seconds === undefined ? undefined : at(seconds));
  });
});

describe('the findings of a process', () => {
  const finding: RemedyFinding = { outcome: 'Match', because: 'it is', isSinceKnown: true };
  const findings = new Map([
    ['m-2', { nodeUID: 'a', byRule: new Map([['x', finding]]) }],
    ['m-1', { nodeUID: 'a', byRule: new Map([['x', finding]]) }],
    ['m-3', { nodeUID: 'a', byRule: new Map([['y', finding]]) }],
  ]);

  it('say nothing about a Node that was replaced', () => {
    expect([...findingsOn(findings, 'm-1', 'a').keys()]).toEqual(['x']);
    expect([...findingsOn(findings, 'm-1', 'b').keys()]).toEqual([]);
    expect([...findingsOn(findings, 'm-9', 'a').keys()]).toEqual([]);
  });

  it('are listed by rule, in the order of the machines', () => {
    expect([...findingsOf(findings, 'x').keys()]).toEqual(['m-1', 'm-2']);
  });
});
