import { describe, expect, it } from 'vitest';
import { logDecided } from '../../src/defender/decision-log.ts';
import type { DecidedRequest } from '../../src/defender/ledger/ledger.ts';
import { memoryLog } from '../support/memory-log.ts';
import { ago, ask, entry } from './builders.ts';

const APPROVAL = {
  action: 'Drain',
  holder: 'm-1-job',
  holderKind: 'RemedyOperationJob',
  decision: 'Refused',
  by: 'ann',
  reason: 'not now',
  at: ago(0),
  until: ago(-60),
} as const;
const DONE = { kind: 'done' } as const;
const DENIED = {
  kind: 'denial',
  denial: { granted: false, reason: 'Freeze', message: 'sale', also: [] },
} as const;
const ENTRY = { kind: 'entry', machine: 'm-1', entry: entry('m-1') } as const;

describe('logDecided', () => {
  it.each<[string, Omit<DecidedRequest, 'seconds'>, string[]]>([
    [
      'a grant with its holder, its rule or set, and the commit',
      { request: { kind: 'ask', ask: ask() }, answer: ENTRY },
      [
        'info granted {"grant":"g-m-1","fence":7,"machine":"m-1","action":"UpdateComponent","risk":"Node","holder":"MachineComponentSet/base","origin":"MachineComponentSet/base","revision":"r-2","notAfter":"2030-01-01T12:04:00.000Z"}',
      ],
    ],
    [
      'how an act ended',
      { request: { kind: 'settle', settlement: { id: 'g-7-1', fence: 7, outcome: 'Failed' } }, answer: DONE },
      ['info settled {"grant":"g-7-1","outcome":"Failed"}'],
    ],
    [
      'the answer of a person',
      { request: { kind: 'approval', machine: 'm-1', approval: APPROVAL }, answer: DONE },
      [
        'info answered {"machine":"m-1","action":"Drain","holder":"RemedyOperationJob/m-1-job","decision":"Refused","by":"ann","reason":"not now"}',
      ],
    ],
    [
      'who closed a breaker',
      {
        request: { kind: 'closeBreaker', id: 'p/b/k', closure: { by: 'ann', reason: 'fixed', at: ago(0) } },
        answer: DONE,
      },
      ['info breaker closed {"breaker":"p/b/k","by":"ann","reason":"fixed"}'],
    ],
    [
      'a denial for who looks for it',
      { request: { kind: 'ask', ask: ask() }, answer: DENIED },
      [
        'debug denied {"machine":"m-1","action":"Reboot","holder":"RemedyOperationJob/m-1-job","reason":"Freeze","because":"sale"}',
      ],
    ],
    [
      'no dry run',
      {
        request: { kind: 'ask', ask: ask(), dryRun: true },
        answer: { kind: 'allowance', allowance: { granted: true, dryRun: true } },
      },
      [],
    ],
    [
      'no answer that was not written',
      { request: { kind: 'approval', machine: 'm-1', approval: APPROVAL }, answer: DENIED },
      [],
    ],
    ['no sweep', { request: { kind: 'sweep' }, answer: DONE }, []],
  ])('R29 logs what people have to look up later: %s', (_, decided, lines) => {
    const log = memoryLog();
    logDecided(log, { ...decided, seconds: 0.1 });
    expect(
      log.lines.map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`),
    ).toEqual(lines);
  });
});
