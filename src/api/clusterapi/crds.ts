/** The CustomResourceDefinitions of the remediation kinds. Their labels name the versions that obey each contract of Cluster API. */
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { VERSION } from '../version.ts';
import { KUBENODE_REMEDIATION_TEMPLATES, KUBENODE_REMEDIATIONS } from './remediation.ts';

/** Cluster API reads these labels. */
const CONTRACTS = { 'cluster.x-k8s.io/v1beta2': VERSION };
/** A repair with a reboot takes minutes. An hour is time for the budgets of the Defender, and for the next rung. */
const DEFAULT_TIMEOUT_SECONDS = 3600;
/** Shorter than that, the first evaluation of a rule after a start could be too late. */
const MIN_TIMEOUT_SECONDS = 60;
const DAY_SECONDS = 86_400;

export function clusterApiCrds(): readonly KubeObject[] {
  return [
    crd(
      KUBENODE_REMEDIATIONS,
      'A request of a MachineHealthCheck of Cluster API for the repair of one Machine, which it creates and deletes.',
      { spec: { ...SPEC, ...FROZEN }, status: STATUS },
      COLUMNS,
    ),
    crd(
      KUBENODE_REMEDIATION_TEMPLATES,
      'What a MachineHealthCheck of Cluster API creates for an unhealthy Machine: spec.remediation.templateRef names it.',
      { spec: TEMPLATE_SPEC },
      [column('Rule', '.spec.template.spec.rule'), AGE],
    ),
  ];
}

type Schema = Readonly<Record<string, unknown>>;

/** The names of our objects and of their Nodes. */
const NAME = { type: 'string', minLength: 1, maxLength: 253 };

const SPEC: Schema = {
  type: 'object',
  description: 'What is tried before the Machine is handed back to be replaced.',
  required: ['rule'],
  properties: {
    rule: {
      type: 'string',
      description: 'Name of the NodeRemedier whose ladder is tried.',
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    },
    timeoutSeconds: {
      type: 'integer',
      format: 'int32',
      description: 'Seconds after which the Machine is handed back when no repair is at work.',
      default: DEFAULT_TIMEOUT_SECONDS,
      minimum: MIN_TIMEOUT_SECONDS,
      maximum: DAY_SECONDS,
    },
  },
};

const FROZEN: Schema = {
  'x-kubernetes-validations': [
    {
      rule: 'self == oldSelf',
      message: 'the spec cannot be changed: delete the object, or change its template',
    },
  ],
};

const STRINGS: Schema = { type: 'object', additionalProperties: { type: 'string' } };

const TEMPLATE_SPEC: Schema = {
  type: 'object',
  required: ['template'],
  properties: {
    template: {
      type: 'object',
      description: 'The KubenodeRemediation that is created for each unhealthy Machine.',
      required: ['spec'],
      properties: {
        metadata: {
          type: 'object',
          description: 'Labels and annotations that it gets.',
          properties: { labels: STRINGS, annotations: STRINGS },
        },
        spec: SPEC,
      },
    },
  },
};

const CONDITION: Schema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: { type: 'string', maxLength: 316 },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: { type: 'string', minLength: 1, maxLength: 1024 },
    message: { type: 'string', maxLength: 32_768 },
  },
};

const STATUS: Schema = {
  type: 'object',
  properties: {
    machine: {
      ...NAME,
      description: 'Name of the Machine of kubenode that follows the Machine of Cluster API.',
    },
    job: { ...NAME, description: 'Name of the last RemedyOperationJob of this request.' },
    conditions: {
      type: 'array',
      description:
        'Repairing: what kubenode does for the machine. HandedBack: whether Cluster API is to replace it.',
      maxItems: 8,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: CONDITION,
    },
  },
};

const AGE = { ...column('Age', '.metadata.creationTimestamp'), type: 'date' };
const COLUMNS = [
  column('Rule', '.spec.rule'),
  column('Node', '.status.machine'),
  column('Repairing', '.status.conditions[?(@.type=="Repairing")].reason'),
  column('HandedBack', '.status.conditions[?(@.type=="HandedBack")].status'),
  AGE,
];

function column(
  name: string,
  jsonPath: string,
): { readonly name: string; readonly type: string; readonly jsonPath: string } {
  return { name, type: 'string', jsonPath };
}

function crd(
  { group, kind, plural, version }: Resource,
  description: string,
  properties: Schema,
  additionalPrinterColumns: readonly object[],
): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: CONTRACTS },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        categories: ['kubenode', 'cluster-api'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns,
          schema: { openAPIV3Schema: rootSchema(description, properties) },
        },
      ],
    },
  };
}

function rootSchema(description: string, properties: Schema): Schema {
  const text = { type: 'string' };
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...properties },
  };
}
