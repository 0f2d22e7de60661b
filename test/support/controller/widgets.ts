/** A kind for tests of controllers: on the in-memory API server and, by its CRD, on a real one. */
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { declaredKind, type ServedKind } from '../../../src/sim/api-server/kinds.ts';

export interface Widget extends KubeObject {
  readonly apiVersion: 'test.kubenode.dev/v1';
  readonly kind: 'Widget';
  readonly spec: {
    readonly size?: number;
    readonly owner?: string;
    readonly args?: readonly string[];
    readonly tags?: readonly string[];
    readonly parts?: readonly { readonly name: string; readonly grade?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export const WIDGETS: Resource<Widget> = {
  group: 'test.kubenode.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
};

const text = { type: 'string' };
const listOf = (items: object, type: string, keys?: readonly string[]): object => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  ...(keys ? { 'x-kubernetes-list-map-keys': keys } : {}),
});
const named = (key: string, other: string): object => ({
  type: 'object',
  required: [key],
  properties: { [key]: text, [other]: text },
});

export const WIDGET_CRD: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.kubenode.dev' },
  spec: {
    group: WIDGETS.group,
    scope: 'Cluster',
    names: { kind: WIDGETS.kind, plural: WIDGETS.plural, singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: WIDGETS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  owner: text,
                  args: listOf(text, 'atomic'),
                  tags: listOf(text, 'set'),
                  parts: listOf(named('name', 'grade'), 'map', ['name']),
                },
              },
              status: {
                type: 'object',
                properties: { phase: text, conditions: listOf(named('type', 'status'), 'map', ['type']) },
              },
            },
          },
        },
      },
    ],
  },
};

export const WIDGET_KIND: ServedKind = { resource: WIDGETS, ...declaredKind(WIDGET_CRD) };

export function widget(name: string, spec: Widget['spec'] = {}): Widget {
  return { apiVersion: 'test.kubenode.dev/v1', kind: 'Widget', metadata: { name }, spec };
}
