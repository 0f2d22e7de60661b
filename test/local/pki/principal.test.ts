import { describe, expect, it } from 'vitest';
import { createPrincipal } from '../../../src/local/pki/principal.ts';

describe('createPrincipal', () => {
  it.each([
    [
      'kubenode-sync',
      [],
      'system:serviceaccount:kubenode-system:kubenode-sync',
      ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'],
    ],
    [
      'system:serviceaccount:default:app',
      [],
      'system:serviceaccount:default:app',
      ['system:serviceaccounts', 'system:serviceaccounts:default'],
    ],
    ['kubenode:agent:m-1', [], 'kubenode:agent:m-1', ['kubenode:agents']],
    ['system:node:m-1', [], 'system:node:m-1', ['system:nodes']],
    ['jane', ['team-a'], 'jane', ['team-a']],
    ['kubenode-unknown', [], 'kubenode-unknown', []],
  ])('adds the groups of the API server: %s %j', (name, additionalGroups, user, groups) => {
    expect(createPrincipal(name, additionalGroups)).toEqual({ user, groups });
  });
});
