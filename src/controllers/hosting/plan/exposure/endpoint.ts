/** Plans the endpoint of the Service `kubernetes` inside a cluster that other machines reach. Pure. */
import { isIP } from 'node:net';
import { ENDPOINT_OUTSIDE } from '../../../../api/names.ts';
import type { OutsideAddress } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput, HostingWait } from '../input.ts';
import { wait, withHint } from '../wait.ts';
import { isReachedOutside } from './gateways.ts';
import { hostReason, outsideText } from './outside.ts';

/** Tells whether a Service can have the host as its endpoint: Services have no names, and those of hosted clusters are of IPv4. */
export function isEndpoint(host: string): boolean {
  return isIP(host) === 4 && hostReason(host) === undefined;
}

/** It disturbs nothing, so that it needs no grant. It comes when a gateway answers, and stays while they are away: clients try again. */
export function planEndpoint(input: HostingInput): HostingDecision | undefined {
  if (!isWritable(input)) return undefined;
  const expected = outsideEndpoint(input.plane.outside);
  if (isSame(input.inside?.endpoint, expected) || (expected && !isReachedOutside(input))) return undefined;
  const because = expected
    ? `pods reach the API server at ${outsideText(expected)}`
    : 'pods reach the API server at no address of IPv4 any more';
  return { act: { type: 'PublishEndpoint', because } };
}

/** Returns why pods of other machines do not reach the API server by the Service, although the exposure has an address for them. */
export function endpointWait({ inside, plane, refused }: HostingInput): HostingWait | undefined {
  const isForeign = inside?.endpoint === 'Foreign' && outsideEndpoint(plane.outside) !== undefined;
  return refused?.get('endpoint') ?? (isForeign ? FOREIGN : undefined);
}

const { namespace, name } = ENDPOINT_OUTSIDE;
export const ENDPOINT_BLOCKER = ['EndpointSlice', `${namespace}/${name}`] as const;
const FOREIGN = wait(
  'EndpointNotOurs',
  withHint(
    'others made the endpoint of the Service kubernetes, by which pods of other machines reach the API server',
    `kubectl --namespace ${namespace} delete endpointslice ${name}`,
  ),
  ENDPOINT_BLOCKER,
);

function isWritable({ inside, refused }: HostingInput): boolean {
  return inside?.isInstalled === true && inside.endpoint !== 'Foreign' && refused?.has('endpoint') !== true;
}

export function outsideEndpoint(outside: OutsideAddress | undefined): OutsideAddress | undefined {
  return outside && isEndpoint(outside.host) ? outside : undefined;
}

function isSame(
  found: NonNullable<HostingInput['inside']>['endpoint'],
  expected: OutsideAddress | undefined,
): boolean {
  if (found === undefined || typeof found === 'string') return found === expected;
  return found.host === expected?.host && found.port === expected.port;
}
