import { describe, expect, it } from 'vitest';
import { createAsk, denialHints, settleRefusal } from '../../../../src/cli/commands/defender/ask.ts';
import { ago, entry, NOW } from '../../../defender/builders.ts';

const CONTEXT = { user: 'alice', nodeUID: 'uid-1', now: NOW };

describe('defender ask', () => {
  it('asks in the name of the person, with the risk of the step', () => {
    expect(createAsk('m-1', { action: 'Reboot', expectedSeconds: 60 }, CONTEXT)).toEqual({
      holder: { kind: 'Other', name: 'alice' },
      machine: 'm-1',
      nodeUID: 'uid-1',
      action: 'Reboot',
      risk: 'Node',
      factsAt: NOW,
      expectedSeconds: 60,
    });
    expect(createAsk('m-1', { action: 'CleanDisk', expectedSeconds: 1 }, CONTEXT).risk).toBe('None');
  });

  it.each([
    ['Drain', undefined, 'Pod'],
    ['DeleteMachine', undefined, 'Machine'],
    ['UpdateComponent', undefined, 'Node'],
    ['UpdateComponent', 'Pod', 'Pod'],
  ] as const)('asks for %s with the stated risk %s as %s', (action, risk, expected) => {
    const flags = { action, expectedSeconds: 1, ...(risk ? { risk } : {}) };
    const found = createAsk('m-1', flags, { ...CONTEXT, nodeUID: undefined });
    expect(found.risk).toBe(expected);
    expect(found).not.toHaveProperty('nodeUID');
  });
});

describe('a denied ask', () => {
  const request = createAsk('m-1', { action: 'WipeDisk', expectedSeconds: 60 }, CONTEXT);
  const denial = { granted: false, reason: 'Freeze', message: 'frozen', also: [] } as const;
  const page = /^hint: what each reason means: docs\/runbooks\/denials\.md#\w+\n/;

  it.each<[string, Parameters<typeof denialHints>, string]>([
    ['nothing else', [denial, request, true], ''],
    [
      'where to find a machine',
      [denial, request, false],
      'list the machines of this cluster with: kubectl get machines',
    ],
    [
      'how to resume',
      [{ ...denial, reason: 'KillSwitch', policy: 'kill-switch' }, request, true],
      'an administrator resumes with: kubenode defender resume',
    ],
    [
      'how to answer',
      [{ ...denial, also: [{ reason: 'ApprovalPending', message: 'waits' }] }, request, true],
      'an approver answers with: kubenode defender approve m-1 --action WipeDisk --holder Other/alice --reason ...',
    ],
  ])('R29 names the page of its reason, and %s', (_, given, hint) => {
    const text = denialHints(...given);
    expect(text).toMatch(page);
    expect(text.replace(page, '')).toBe(hint === '' ? '' : `hint: ${hint}\n`);
  });
});

describe('defender settle', () => {
  const about = { machine: 'm-1', user: 'alice', now: NOW };
  const others = entry('m-1');

  it('R13 gives back a grant of your own, and one past its end that only a person knows', () => {
    const own = entry('m-1', { holder: { kind: 'Other', name: 'alice' } });
    expect(settleRefusal(own, about)).toBeUndefined();
    expect(settleRefusal({ ...others, notAfter: ago(1) }, about)).toBeUndefined();
  });

  it('R13 refuses a grant of another holder that is in work, and a machine without one', () => {
    expect(settleRefusal(others, about)).toMatchObject({
      exitCode: 77,
      message: `grant g-m-1 of machine m-1 belongs to MachineComponentSet base, and ends at ${others.notAfter}`,
    });
    const bob = entry('m-1', { holder: { kind: 'Other', name: 'bob' } });
    expect(settleRefusal(bob, about)?.exitCode).toBe(77);
    expect(settleRefusal(undefined, about)?.exitCode).toBe(65);
    const settled = entry('m-1', { state: 'Settled', settledAt: ago(1), outcome: 'Failed' });
    expect(settleRefusal(settled, about)?.exitCode).toBe(65);
  });
});
