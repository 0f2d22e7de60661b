import { describe, expect, it } from 'vitest';
import { planAcceptance } from '../../../../src/cli/commands/release/accept-head.ts';
import { COMMIT, cluster, OLD_COMMIT, pipeline, release } from '../builders.ts';

const OLDER = 'c'.repeat(40);
const HEAD = { commit: COMMIT, verdict: 'NotDescendant', message: 'it does not descend' };

function hub(
  head: object = HEAD,
  names: readonly string[] = ['fleet'],
): Parameters<typeof planAcceptance>[0] {
  const assigned = { pipeline: 'fleet', mode: 'Apply' };
  const running = [
    [OLDER, 'behind'],
    [COMMIT, 'there'],
  ].map(([commit, name]) => {
    const each = cluster({ commit }, name);
    return { ...each, status: { ...each.status, assigned } } as typeof each;
  });
  return {
    pipelines: names.map((name) => ({ ...pipeline({ head }), metadata: { name } })),
    clusters: [...running, cluster({ commit: 'd'.repeat(40) }, 'of-another-pipeline')],
    releases: [release({}, OLD_COMMIT), release({}, OLDER)],
  };
}

describe('planAcceptance', () => {
  it('accepts the observed head in place of what the hub and its own clusters have', () => {
    expect(planAcceptance(hub(), undefined, undefined)).toEqual({
      name: 'fleet',
      from: OLD_COMMIT,
      to: COMMIT,
      replaces: [OLD_COMMIT, OLDER],
      clusters: ['behind'],
      message: 'it does not descend',
    });
  });

  it.each<[name: string, head: object, commit: string | undefined, message: string]>([
    ['another head than the one that was reviewed', HEAD, OLD_COMMIT, `is ${COMMIT}, not ${OLD_COMMIT}`],
    ['a prefix that is too short', HEAD, 'aaaaaa', 'not aaaaaa'],
    ['a head that is not observed', {}, undefined, 'has not observed a head of pipeline fleet'],
  ])('refuses %s', (_, head, commit, message) => {
    expect(() => planAcceptance(hub(head), undefined, commit)).toThrow(message);
  });

  it.each<[pipelines: readonly string[], message: string]>([
    [['fleet', 'other'], 'several Pipelines'],
    [[], 'no Pipeline'],
  ])('needs the name of the Pipeline in a hub with %j', (pipelines, message) => {
    expect(() => planAcceptance(hub(HEAD, pipelines), undefined, undefined)).toThrow(message);
  });

  it('takes a prefix of the head, and the Pipeline that is named', () => {
    const { name, to } = planAcceptance(hub(HEAD, ['fleet', 'other']), 'other', 'AAAAAAA');
    expect([name, to]).toEqual(['other', COMMIT]);
  });
});
