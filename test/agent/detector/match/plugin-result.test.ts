import { describe, expect, it } from 'vitest';
import { readPluginMonitor } from '../../../../src/agent/detector/config/plugin-monitor.ts';
import type { DetectedCondition } from '../../../../src/agent/detector/match/condition.ts';
import {
  judgePlugins,
  type PluginResult,
  pluginEvent,
  pluginResult,
} from '../../../../src/agent/detector/match/plugin-result.ts';
import { pluginMonitor } from '../../../support/agent/detector-config.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const rule = (pluginMonitor['rules'] as readonly object[])[0];
const rules = [
  { ...rule, reason: 'First' },
  { ...rule, reason: 'Second' },
];
const monitor = readPluginMonitor({ ...pluginMonitor, rules }, 'ntp.json');

describe('plug-in result', () => {
  it.each([
    [{ exitCode: 0 }, 'Ok'],
    [{ exitCode: 1 }, 'Problem'],
    [{ exitCode: 2 }, 'Unknown'],
    [{ exitCode: 127 }, 'Unknown'],
    [{}, 'Unknown'],
    [{ exitCode: 0, timedOut: true }, 'Unknown'],
    [{ exitCode: 1, timedOut: true }, 'Unknown'],
  ])('AGT-71 takes 0 for good, 1 for a problem, all else for unknown: %j', (run, status) => {
    expect(pluginResult({ timedOut: false, output: '', ...run }, { path: '/check' }, 80).status).toBe(status);
  });

  it('cuts the output at its limit in bytes, and no character in two', () => {
    const run = { exitCode: 1, timedOut: false, output: '  ééé\n' };
    expect([6, 5, 4, 1].map((length) => pluginResult(run, { path: '' }, length).message)).toEqual([
      'ééé',
      'éé',
      'éé',
      '',
    ]);
  });

  it('says what timed out', () => {
    const { message } = pluginResult({ timedOut: true, output: 'so\nfar' }, { path: '/check' }, 80);
    expect(message).toBe('Timeout when running plugin "/check": state - signal: killed. output - "so\\nfar"');
    const ended = pluginResult({ timedOut: true, exitCode: 2, output: '' }, { path: '/check' }, 80);
    expect(ended.message).toBe('Timeout when running plugin "/check": state - exit status 2. output - ""');
  });

  it.each<[string, (PluginResult['status'] | undefined)[], string | undefined, string]>([
    ['good before the first results', [undefined, undefined], undefined, 'False NTPIsUp ntp service is up'],
    ['as last reported until all have a result', ['Ok', undefined], 'True', 'True First before'],
    ['a problem as soon as it is known', [undefined, 'Problem'], undefined, 'True Second result 1'],
    ['a problem of one of two', ['Problem', 'Ok'], 'False', 'True First result 0'],
    ['unknown when one of two is', ['Unknown', 'Ok'], 'True', 'Unknown NTPIsUp result 0'],
    ['a problem before unknown', ['Unknown', 'Problem'], 'False', 'True Second result 1'],
    ['good when all are', ['Ok', 'Ok'], 'True', 'False NTPIsUp ntp service is up'],
  ])('gives a condition with several rules one status: %s', (_, statuses, before, expected) => {
    expect(judged(statuses, before)).toEqual([expected]);
  });

  it('reports nothing before the first result where the file asks for that', () => {
    const input = { results: new Map(), before: [], now: NOW };
    expect(judgePlugins({ monitor: { ...monitor, skipsInitialStatus: true }, ...input }).conditions).toEqual(
      [],
    );
  });

  it('reports all conditions of such a file with the first result, and its change from good', () => {
    const more = { type: 'OtherProblem', reason: 'NoOther', message: 'none' };
    const skipping = { ...monitor, skipsInitialStatus: true, conditions: [...monitor.conditions, more] };
    const [first, second] = monitor.rules;
    if (!first || !second) throw new Error('no rules');
    const texts = (results: ReadonlyMap<typeof first, PluginResult>): readonly (readonly string[])[] => {
      const judgement = judgePlugins({ monitor: skipping, results, before: [], now: NOW });
      return [
        judgement.conditions.map(({ type, status }) => `${type} ${status}`),
        judgement.events.map(({ type, reason }) => `${type} ${reason}`),
      ];
    };
    expect(texts(new Map([[first, result('Ok')]]))).toEqual([['NTPProblem False', 'OtherProblem False'], []]);
    expect(texts(new Map([[second, result('Problem')]]))).toEqual([
      ['NTPProblem True', 'OtherProblem False'],
      ['Warning Second'],
    ]);
    const unknown = new Map([
      [first, result('Unknown')],
      [second, result('Ok')],
    ]);
    expect(texts(unknown)).toEqual([['NTPProblem Unknown', 'OtherProblem False'], ['Normal NTPIsUp']]);
  });

  it('makes an Event each time that a temporary rule does not find all good', () => {
    const [own] = readPluginMonitor(pluginMonitor, '').rules.slice(1);
    if (!own) throw new Error('no temporary rule');
    const events = (['Ok', 'Problem', 'Unknown'] as const).map((status) =>
      pluginEvent(own, { status, message: 'm' }),
    );
    const event = { type: 'Warning', reason: 'NTPIsSlow', message: 'm' };
    expect(events).toEqual([undefined, event, event]);
  });
});

function result(status: PluginResult['status']): PluginResult {
  return { status, message: 'm' };
}

function judged(
  statuses: readonly (PluginResult['status'] | undefined)[],
  before?: string,
): readonly string[] {
  const results = new Map(
    statuses.flatMap((status, index) => {
      const own = monitor.rules[index];
      return status && own ? [[own, { status, message: `result ${index}` }] as const] : [];
    }),
  );
  const since = NOW.toISOString();
  const last = {
    type: 'NTPProblem',
    reason: before === 'True' ? 'First' : 'NTPIsUp',
    message: 'before',
    since,
  };
  const known = before === undefined ? [] : [{ ...last, status: before as DetectedCondition['status'] }];
  const { conditions } = judgePlugins({ monitor, results, before: known, now: NOW });
  return conditions.map(({ status, reason, message }) => `${status} ${reason} ${message}`);
}
