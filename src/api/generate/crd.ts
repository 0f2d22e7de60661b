/** The CustomResourceDefinitions of the kinds: `crds/<plural>.yaml` for people, and all of them as JSON for programs. */
import { stringify } from 'yaml';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Kind, PrinterColumn } from '../kinds/kind.ts';
import { type GeneratedFile, YAML_HEADER } from './file.ts';
import { type JsonSchema, jsonSchemaOf, mapSchema, without } from './json-schema.ts';

export function crdFile(kind: Kind, group: string, version: string): GeneratedFile {
  const yaml = stringify(crdOf(kind, group, version), { lineWidth: 0, aliasDuplicateObjects: false });
  return { path: `crds/${kind.plural}.yaml`, text: YAML_HEADER + yaml };
}

/** YAML of this size takes a second to parse, JSON some milliseconds. A line for each kind. */
export function crdsFile(kinds: readonly Kind[], group: string, version: string): GeneratedFile {
  const lines = kinds
    .toSorted((a, b) => byCode(a.plural, b.plural))
    .map((kind) => JSON.stringify(crdOf(kind, group, version)));
  return { path: 'src/api/generated/crds.json', text: `[\n${lines.join(',\n')}\n]\n` };
}

export function crdOf(kind: Kind, group: string, version: string): KubeObject {
  const { plural, shortName, selectableFields } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['kubenode'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...scaleOf(kind) },
          additionalPrinterColumns: kind.columns.map((column) => printerColumn(column)),
          ...(selectableFields && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  };
}

/** The schema of a whole object, still with our own extensions. */
export function markedSchema({ description, nameMax, rules, spec, status }: Kind): JsonSchema {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: nameMax } } },
      spec: jsonSchemaOf(spec),
      status: jsonSchemaOf(status),
    },
    ...(rules && { 'x-kubernetes-validations': rules }),
  };
}

export function rootSchema(kind: Kind): JsonSchema {
  return mapSchema(markedSchema(kind), (part) => without(part, 'x-kubenode-type', 'x-kubenode-doc'));
}

function scaleOf({ scale }: Kind): object {
  if (!scale) return {};
  const { replicas, statusReplicas, selector } = scale;
  return {
    scale: { specReplicasPath: replicas, statusReplicasPath: statusReplicas, labelSelectorPath: selector },
  };
}

/** kubectl prints columns with a priority above 0 only with `-o wide`. */
function printerColumn({ name, path, type = 'string', wide = false }: PrinterColumn): object {
  return { name, type, jsonPath: path, ...(wide && { priority: 1 }) };
}
