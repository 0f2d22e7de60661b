import { describe, expect, it } from 'vitest';
import { CLUSTER_API } from '../../../src/controllers/following/clusterapi/owner.ts';
import {
  differences,
  type FollowedMachine,
  isOwn,
  labelsOfTheirs,
  ownLabels,
} from '../../../src/controllers/following/own-machine.ts';
import { machine } from '../../support/builders.ts';
import { ours } from './clusterapi/objects.ts';

const DESIRED: FollowedMachine = {
  name: 'node-1',
  object: { namespace: 'fleet', name: 'md-1', providerID: 'inst://1' },
  zone: 'zone-a',
  labels: { pool: 'general' },
  hold: undefined,
  bootstrap: undefined,
};

describe('what the controller has written of a Machine', () => {
  it.each<[string, Partial<FollowedMachine>, readonly string[]]>([
    ['nothing of one that is as desired', {}, []],
    ['another zone', { zone: undefined }, ['zone']],
    ['another bootstrap config', { bootstrap: '{}' }, ['bootstrap']],
    ['another value of a label', { labels: { pool: 'gpu' } }, ['labels']],
    ['a label of its own that is not desired', { labels: {} }, ['labels']],
    ['a label that is missing', { labels: { pool: 'general', new: 'x' } }, ['labels']],
    ['a hold that begins', { hold: 'Paused: x' }, ['hold']],
    ['another object', { object: { ...DESIRED.object, name: 'md-2' } }, ['object']],
  ])('differs by %s', (_, changes, expected) => {
    expect(differences({ ...DESIRED, ...changes }, ours(1), CLUSTER_API)).toEqual(expected);
  });

  it('is told by its field manager, and not by the provider alone', () => {
    expect(
      [ours(1), ours(1, { manager: 'kubectl' }), machine('node-1')].map((each) => isOwn(each, CLUSTER_API)),
    ).toEqual([true, false, false]);
  });

  it('are only its own labels, and none that has a meaning for kubenode', () => {
    expect(ownLabels(ours(1), CLUSTER_API)).toEqual({ pool: 'general' });
    expect(labelsOfTheirs({ a: 'b', 'kubenode.dev/machineset': 'x', 'notkubenode.dev/y': 'z' })).toEqual({
      a: 'b',
      'notkubenode.dev/y': 'z',
    });
  });
});
