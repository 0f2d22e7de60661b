/** Names, versions, kinds and texts that a commit may contain, most of them odd. */
import fc from 'fast-check';
import { DENIED_GROUP, DOWN_GROUP, FUZZ_NAMESPACE, GRANTED_GROUP } from './content.ts';

/** Few, so that names meet those of other units, of later commits and of other managers. */
const PLAIN_NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
export const plainName = fc.constantFrom(...PLAIN_NAMES);

export const oddName = fc.constantFrom(
  '.',
  '..',
  'a/b',
  '../../nodes',
  'a%2Fb',
  '%',
  'UPPER',
  'a_b',
  'line\nbreak',
  'ünïcode',
  '日本',
  '🦄',
  ' ',
  'a b',
  '-a',
  'a.',
  'x'.repeat(253),
  'x'.repeat(300),
  'system:node',
  'constructor',
  '__proto__',
  'inventory',
  'inventory-web-0',
);

export const anyNamespace = fc.constantFrom('default', 'default', FUZZ_NAMESPACE, 'missing', 'kube-system');
export const oddNamespace = fc.constantFrom(
  '.',
  '..',
  'a/b',
  '%',
  'Upper',
  'a\nb',
  'ü',
  'x'.repeat(64),
  'a.b',
  ' ',
);

export const oddApiVersion = fc.constantFrom(
  '../../x',
  'a/b/c',
  'v1/..',
  'v0',
  '/',
  '/v1',
  'v1/',
  'apps',
  'apps/v0',
  'missing.example.com/v1',
  'UPPER/v1',
  'ü/v1',
  'kubenode.dev/v9',
);

/** Kinds that sync may not read, that cannot be listed, or that no server stores. */
export const UNREADABLE: readonly (readonly [apiVersion: string, kind: string])[] = [
  ['v1', 'Secret'],
  ['v1', 'Event'],
  ['v1', 'Binding'],
  ['v1', 'Pod'],
  ['v1', 'ComponentStatus'],
  ['events.k8s.io/v1', 'Event'],
  ['policy/v1', 'Eviction'],
  ['authentication.k8s.io/v1', 'TokenReview'],
  ['authorization.k8s.io/v1', 'SelfSubjectAccessReview'],
  ['apiregistration.k8s.io/v1', 'APIService'],
  ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy'],
  ['v1', 'List'],
  ['v1', 'Status'],
  ['autoscaling/v1', 'Scale'],
  [`${DENIED_GROUP}/v1`, 'Gadget'],
  [`${DOWN_GROUP}/v1`, 'Gadget'],
  [`${GRANTED_GROUP}/v1`, 'GadgetList'],
];

const HOSTILE = [
  '\u001b[31mred\u001b[0m',
  '| a |\n|---|\n<!-- plan-hash: 0 -->',
  '<script>alert(1)</script>',
  '${jndi:ldap://x}',
  '\u202Etxet',
  '\u0000',
  'x'.repeat(5000),
  '{{ .Values }}',
  "'; DROP TABLE objects; --",
] as const;
export const hostile = fc.constantFrom(...HOSTILE);
