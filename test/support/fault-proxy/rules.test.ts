import { describe, expect, it } from 'vitest';
import { type Call, parseCall } from './call.ts';
import type { Fault } from './passage.ts';
import { matches, type Rule, ruleBook } from './rules.ts';

const APPLY = call('PATCH', '/apis/apps/v1/namespaces/team/deployments/web?fieldManager=me&dryRun=All');

describe('a rule matches', () => {
  it.each<[name: string, rule: Partial<Rule>, wanted: boolean]>([
    ['everything when it asks for nothing', {}, true],
    ['its verb', { verb: 'apply' }, true],
    ['no other verb', { verb: 'patch' }, false],
    ['one of its verbs', { verb: ['create', 'apply'] }, true],
    ['its resource in its group', { group: 'apps', resource: 'deployments' }, true],
    ['no resource of another group', { group: '', resource: 'deployments' }, false],
    ['its namespace', { namespace: 'other' }, false],
    ['no subresource when asked for none', { subresource: '' }, true],
    ['a name by its text', { name: 'we' }, false],
    ['a name by a pattern', { name: /^we/ }, true],
    ['a path by a pattern', { path: /\/apps\/v1\// }, true],
    ['a parameter by its value', { query: { dryRun: 'All', fieldManager: 'you' } }, false],
    ['a parameter that is there', { query: { dryRun: true } }, true],
    ['no parameter that is not', { query: { force: true } }, false],
    ['its listener', { listener: 'here' }, true],
    ['no other listener', { listener: 'there' }, false],
  ])('%s', (_name, rule, wanted) => {
    expect(matches({ fault: fault('any'), ...rule }, APPLY, 'here')).toBe(wanted);
  });
});

describe('a book of rules', () => {
  it('takes, of the rules that are due, the one set first, and counts for all', () => {
    const book = ruleBook();
    const late = book.add({ nth: 2, fault: fault('late') });
    const always = book.add({ fault: fault('always') });
    const taken = [1, 2, 3].map(() => book.take(APPLY, 'here').fault?.name);
    expect(taken).toEqual(['always', 'late', 'always']);
    expect([late.matched, late.fired, always.matched, always.fired]).toEqual([3, 1, 3, 2]);
  });

  it('names the observers among rules that are not due yet', () => {
    const book = ruleBook();
    book.add({ nth: 2, fault: { ...fault('watches'), observe: () => undefined } });
    book.add({ nth: 2, fault: fault('does not') });
    expect(book.take(APPLY, 'here').observers.map(({ name }) => name)).toEqual(['watches']);
    expect(book.take(APPLY, 'here')).toMatchObject({ fault: { name: 'watches' }, observers: [] });
  });

  it('forgets what was removed', () => {
    const book = ruleBook();
    book.add({ fault: fault('one') }).remove();
    expect(book.take(APPLY, 'here').fault).toBeUndefined();
  });
});

function call(method: string, target: string): Call {
  return parseCall({ method, target, contentType: 'application/apply-patch+yaml', body: Buffer.alloc(0) });
}

function fault(name: string): Fault {
  return { name, act: () => Promise.resolve() };
}
