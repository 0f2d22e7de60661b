/** A small Azure Resource Manager in memory that answers as its documentation does. */
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { Clock } from '../../../../src/os/clock.ts';
import type { CloudAnswer, CloudRequest } from '../../cloud/cloud-proxy.ts';
import { createOperations, type OperationFailure } from './operations.ts';
import { ArmRefusal, jsonAnswer, REFUSALS, refusalAnswer } from './refusal.ts';
import { createTokenService, type TokenService } from './tokens.ts';
import { checkVm, formatVm, isDeletedWhole, nicName, type Vm } from './vms.ts';

export const SUBSCRIPTION = '4970d23e-ed41-4670-9c19-02a1d2808dd9';
export const GROUP = `/subscriptions/${SUBSCRIPTION}/resourceGroups/nodes`;
const VMS = `${GROUP}/providers/Microsoft.Compute/virtualMachines`;
const HEALTH = `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.ResourceHealth/events`;

export interface HealthEvent {
  readonly name: string;
  readonly eventType: string;
  readonly status: string;
  readonly impactStartTime: string;
  readonly impacted: readonly (string | undefined)[];
}

export interface Arm {
  readonly vms: Map<string, Vm>;
  /** Interfaces and disks that stayed when their virtual machine was deleted. */
  readonly leaked: string[];
  readonly deployments: Map<string, { isActive: boolean }>;
  readonly events: HealthEvent[];
  /** The permissions of the caller, by the end of the scope. */
  readonly permissions: Map<string, object[]>;
  readonly tokens: TokenService;
  /** The error with which the operations of creations end. */
  failCreation: OperationFailure | undefined;
  /** How many polls find an operation under way. */
  polls: number;
  pageSize: number;
  /** The error of the next request that matches. */
  refuseNext(matches: (request: CloudRequest) => boolean, refusal: () => ArmRefusal): void;
  answer(request: CloudRequest): Promise<CloudAnswer>;
}

type Handler = (call: Call) => CloudAnswer;

interface Call {
  readonly request: CloudRequest;
  readonly url: URL;
  readonly json: unknown;
  readonly match: readonly string[];
}

export function createArm(clock: Clock, origin: () => string): Arm {
  const operations = createOperations(SUBSCRIPTION);
  const refusals: { matches: (request: CloudRequest) => boolean; refusal: () => ArmRefusal }[] = [];

  function accepted(
    { status, body, vmName }: { readonly status: number; readonly body?: object; readonly vmName: string },
    end: Parameters<typeof operations.begin>[2],
  ): CloudAnswer {
    const path = operations.begin(vmName, arm.polls, end);
    const headers = {
      'azure-asyncoperation': `${origin()}${path}?api-version=2024-07-01`,
      'retry-after': '1',
    };
    return body ? jsonAnswer(status, body, headers) : { status, headers, body: '' };
  }

  function requireVm(name: string): Vm {
    const found = arm.vms.get(name);
    if (!found) throw REFUSALS.noVm(name);
    return found;
  }

  function putVm({ request, json, match: [name = ''] }: Call): CloudAnswer {
    checkVm(json);
    const isNew = request.headers['if-none-match'] === '*';
    if (arm.vms.has(name)) throw isNew ? REFUSALS.exists() : REFUSALS.changed();
    const tags = { ...(json as { tags?: Record<string, string> }).tags };
    const vm: Vm = {
      name,
      body: json as object,
      createdAt: clock.now(),
      tags,
      provisioning: 'Creating',
      power: undefined,
    };
    arm.vms.set(name, vm);
    return accepted({ status: 201, body: formatVm(vm, GROUP, false), vmName: name }, () => {
      const failure = arm.failCreation;
      if (vm.provisioning === 'Creating') vm.provisioning = failure ? 'Failed' : 'Succeeded';
      vm.power ??= failure ? undefined : 'running';
      return failure;
    });
  }

  function deleteVm({ match: [name = ''] }: Call): CloudAnswer {
    const vm = arm.vms.get(name);
    if (!vm) return { status: 204, headers: {}, body: '' };
    vm.provisioning = 'Deleting';
    return accepted({ status: 202, vmName: name }, () => {
      // An operation that ends late must not delete another one of this name.
      if (arm.vms.get(name) === vm) arm.vms.delete(name);
      if (!isDeletedWhole(vm)) arm.leaked.push(name);
      return undefined;
    });
  }

  function switchPower({ url, match: [name = '', act = ''] }: Call): CloudAnswer {
    const vm = requireVm(name);
    if (vm.provisioning === 'Deleting') throw REFUSALS.busy();
    if (act === 'powerOff' && url.searchParams.get('skipShutdown') !== 'true') vm.power = 'stopping';
    const ending = { powerOff: 'stopped', start: 'running', restart: 'running' } as const;
    const power = ending[act as keyof typeof ending];
    if (act === 'start') vm.power = 'starting';
    return accepted({ status: 202, vmName: name }, () => {
      vm.power = power;
      return undefined;
    });
  }

  function getVm({ url, match: [name = ''] }: Call): CloudAnswer {
    const withView = url.searchParams.get('$expand') === 'instanceView';
    const answer = jsonAnswer(200, formatVm(requireVm(name), GROUP, withView));
    operations.advance(name);
    return answer;
  }

  function putDeployment({ json, match: [name = ''] }: Call): CloudAnswer {
    if (arm.deployments.get(name)?.isActive) throw REFUSALS.active();
    // What a deployment in this mode does to resources that are not in its template.
    if (textAt(json, 'properties', 'mode') !== 'Incremental') arm.vms.clear();
    arm.deployments.set(name, { isActive: true });
    return jsonAnswer(201, { name, properties: { provisioningState: 'Accepted' } });
  }

  function getDeployment({ match: [name = ''] }: Call): CloudAnswer {
    const found = arm.deployments.get(name);
    if (!found) throw REFUSALS.noDeployment(name);
    found.isActive = false;
    return jsonAnswer(200, { name, properties: { provisioningState: 'Succeeded' } });
  }

  function page({ url }: Call, entries: readonly object[]): CloudAnswer {
    const begin = Number(url.searchParams.get('$skiptoken') ?? 0);
    const end = begin + arm.pageSize;
    url.searchParams.set('$skiptoken', String(end));
    const nextLink = end < entries.length ? { nextLink: `${origin()}${url.pathname}${url.search}` } : {};
    return jsonAnswer(200, { value: entries.slice(begin, end), ...nextLink });
  }

  const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
    [
      'GET',
      new RegExp(`^${VMS}$`),
      (call) =>
        page(
          call,
          [...arm.vms.values()].map((vm) => formatVm(vm, GROUP, false)),
        ),
    ],
    ['GET', new RegExp(`^${VMS}/([^/]+)$`), getVm],
    ['PUT', new RegExp(`^${VMS}/([^/]+)$`), putVm],
    ['DELETE', new RegExp(`^${VMS}/([^/]+)$`), deleteVm],
    ['POST', new RegExp(`^${VMS}/([^/]+)/(powerOff|start|restart)$`), switchPower],
    ['GET', /\/locations\/westeurope\/operations\/([^/]+)$/, ({ match: [id = ''] }) => operations.poll(id)],
    ['PUT', new RegExp(`^${GROUP}/providers/Microsoft.Resources/deployments/([^/]+)$`), putDeployment],
    ['GET', new RegExp(`^${GROUP}/providers/Microsoft.Resources/deployments/([^/]+)$`), getDeployment],
    [
      'GET',
      new RegExp(`^${GROUP}/providers/Microsoft.Network/networkInterfaces/([^/]+)$`),
      ({ match: [name = ''] }) => {
        const found = [...arm.vms.keys()].find((vm) => nicName(vm) === name);
        if (found === undefined) throw new ArmRefusal(404, 'ResourceNotFound', 'not found');
        return jsonAnswer(200, NIC);
      },
    ],
    [
      'GET',
      /^(.+)\/providers\/Microsoft\.Authorization\/permissions$/,
      (call) => page(call, permissionsAt(call.match[0] ?? '')),
    ],
    ['GET', new RegExp(`^${HEALTH}$`), (call) => page(call, arm.events.map(formatEvent))],
    [
      'GET',
      new RegExp(`^${HEALTH}/([^/]+)/impactedResources$`),
      (call) =>
        page(
          call,
          (arm.events.find(({ name }) => name === call.match[0])?.impacted ?? []).map(formatImpacted),
        ),
    ],
  ];

  function permissionsAt(scope: string): readonly object[] {
    return [...arm.permissions].find(([end]) => scope.endsWith(end))?.[1] ?? [];
  }

  function checkRequest(request: CloudRequest, url: URL): void {
    arm.tokens.check(request);
    const index = refusals.findIndex(({ matches }) => matches(request));
    const [refused] = index === -1 ? [] : refusals.splice(index, 1);
    if (refused) throw refused.refusal();
    if (!url.searchParams.has('api-version')) throw REFUSALS.noVersion();
    const [, group = 'nodes'] = /\/resourceGroups\/([^/]+)/.exec(url.pathname) ?? [];
    if (group !== 'nodes') throw REFUSALS.noGroup(group);
  }

  function route(request: CloudRequest): CloudAnswer {
    const url = new URL(request.path, origin());
    checkRequest(request, url);
    for (const [method, path, handler] of routes) {
      const match = request.method === method ? path.exec(url.pathname) : null;
      if (match) return handler({ request, url, json: parseBody(request), match: match.slice(1) });
    }
    throw new ArmRefusal(404, 'InvalidResourceType', `no ${request.method} ${url.pathname}`);
  }

  const arm: Arm = {
    vms: new Map(),
    leaked: [],
    deployments: new Map(),
    events: [],
    permissions: new Map(),
    tokens: createTokenService(origin),
    failCreation: undefined,
    polls: 1,
    pageSize: 3,
    refuseNext: (matches, refusal) => void refusals.push({ matches, refusal }),
    async answer(request) {
      const token = arm.tokens.answer(request);
      if (token) return token;
      try {
        return route(request);
      } catch (error) {
        if (error instanceof ArmRefusal) return refusalAnswer(error);
        throw error;
      }
    },
  };
  return arm;
}

const NIC = {
  properties: {
    provisioningState: 'Succeeded',
    ipConfigurations: [
      { name: 'primary', properties: { privateIPAddress: '10.0.0.4', privateIPAllocationMethod: 'Dynamic' } },
    ],
  },
};

function parseBody({ body }: CloudRequest): unknown {
  return body === '' ? undefined : JSON.parse(body);
}

function formatEvent({ name, eventType, status, impactStartTime }: HealthEvent): object {
  const properties = { eventType, status, impactStartTime };
  return { id: `/providers/Microsoft.ResourceHealth/events/${name}`, name, properties };
}

function formatImpacted(targetResourceId: string | undefined): object {
  return {
    name: 'abc-123',
    properties: targetResourceId === undefined ? { info: [] } : { targetResourceId },
  };
}
