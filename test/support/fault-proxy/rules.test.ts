import { describe, expect, it } from 'vitest';
import { type Call, parseCall } from './call.ts';
import type { Fault } from './proxied-request.ts';
import { createFaultRules, matches, type Rule } from './rules.ts';

const APPLY = call('PATCH', '/apis/apps/v1/namespaces/team/deployments/web?fieldManager=me&dryRun=All');

describe('a rule matches', () => {
  it.each<[name: string, rule: Partial<Rule>, wanted: boolean]>([
    ['everything if it has no criteria', {}, true],
    ['its verb', { verb: 'apply' }, true],
    ['no other verb', { verb: 'patch' }, false],
    ['one of its verbs', { verb: ['create', 'apply'] }, true],
    ['its resource in its group', { group: 'apps', resource: 'deployments' }, true],
    ['no resource of another group', { group: '', resource: 'deployments' }, false],
    ['its namespace', { namespace: 'other' }, false],
    ['no subresource unless it names one', { subresource: '' }, true],
    ['a name by its text', { name: 'we' }, false],
    ['a name by a pattern', { name: /^we/ }, true],
    ['a path by a pattern', { path: /\/apps\/v1\// }, true],
    ['a parameter by its value', { query: { dryRun: 'All', fieldManager: 'you' } }, false],
    ['a parameter that is set', { query: { dryRun: true } }, true],
    ['no parameter that is not set', { query: { force: true } }, false],
    ['its listener', { listener: 'here' }, true],
    ['no other listener', { listener: 'there' }, false],
  ])('%s', (_name, rule, wanted) => {
    expect(matches({ fault: fault('any'), ...rule }, APPLY, 'here')).toBe(wanted);
  });
});

describe('fault rules', () => {
  it('apply the first-set rule among those that are due, and count for all', () => {
    const rules = createFaultRules();
    const late = rules.add({ nth: 2, fault: fault('late') });
    const always = rules.add({ fault: fault('always') });
    const taken = [1, 2, 3].map(() => rules.take(APPLY, 'here').fault?.name);
    expect(taken).toEqual(['always', 'late', 'always']);
    expect([late.matched, late.fired, always.matched, always.fired]).toEqual([3, 1, 3, 2]);
  });

  it('list the observers of rules that are not due yet', () => {
    const rules = createFaultRules();
    rules.add({ nth: 2, fault: { ...fault('watches'), observe: () => undefined } });
    rules.add({ nth: 2, fault: fault('does not') });
    expect(rules.take(APPLY, 'here').observers.map(({ name }) => name)).toEqual(['watches']);
    expect(rules.take(APPLY, 'here')).toMatchObject({ fault: { name: 'watches' }, observers: [] });
  });

  it('ignore removed rules', () => {
    const rules = createFaultRules();
    rules.add({ fault: fault('one') }).remove();
    expect(rules.take(APPLY, 'here').fault).toBeUndefined();
  });
});

function call(method: string, target: string): Call {
  return parseCall({ method, target, contentType: 'application/apply-patch+yaml', body: Buffer.alloc(0) });
}

function fault(name: string): Fault {
  return { name, act: () => Promise.resolve() };
}
