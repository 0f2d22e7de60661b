import { describe, expect, it } from 'vitest';
import {
  followedConfigReason,
  followedObject,
  followedText,
  isFollowed,
} from '../../src/providers/followed.ts';
import { machine } from '../support/builders.ts';

const CONFIG = { namespace: 'fleet', name: 'md-1', providerID: 'inst://1' };

function withConfig(config: Readonly<Record<string, unknown>>): ReturnType<typeof machine> {
  return machine('m', { spec: { infra: { provider: 'clusterapi', config } } });
}

describe('a Machine that follows an object of another system', () => {
  it('has a provider that no process opens', () => {
    expect([isFollowed(withConfig(CONFIG)), isFollowed(machine('m'))]).toEqual([true, false]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, object | undefined]>([
    ['names the object and its instance', CONFIG, CONFIG],
    ['names none without an instance', { ...CONFIG, providerID: '' }, undefined],
    ['names none with an id that status cannot have', { ...CONFIG, providerID: 'x'.repeat(257) }, undefined],
    ['names none by another type', { ...CONFIG, name: 7 }, undefined],
    ['names none by default', {}, undefined],
  ])('%s', (_, config, expected) => {
    expect(followedObject(withConfig(config))).toEqual(expected);
    const reason = followedConfigReason(withConfig(config));
    expect(reason).toBe(
      expected
        ? undefined
        : 'spec.infra.config: expected namespace, name, providerID, as the controller of provider clusterapi writes them',
    );
  });

  it.each<[string, Readonly<Record<string, unknown>>, string | undefined]>([
    ['the NodeClaim', { kind: 'NodeClaim', name: 'a', providerID: 'i://1' }, 'NodeClaim a of Karpenter'],
    ['nothing without a kind', { name: 'a', providerID: 'i://1' }, undefined],
    ['nothing without an instance', { kind: 'NodeClaim', name: 'a' }, undefined],
  ])('with provider external names %s', (_, config, expected) => {
    const found = followedObject(machine('m', { spec: { infra: { provider: 'external', config } } }));
    expect(found && followedText(found)).toBe(expected);
  });

  it('names no object of a provider that creates instances', () => {
    expect(
      followedObject(machine('m', { spec: { infra: { provider: 'local', config: CONFIG } } })),
    ).toBeUndefined();
  });
});
