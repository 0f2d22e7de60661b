/** EC2 as it is documented: the moto server, with what moto lacks. ClientToken and scheduled events are added here. */
import type { CloudAnswer, CloudRequest } from '../cloud/cloud-proxy.ts';
import { forward } from '../cloud/cloud-proxy.ts';

export interface ScheduledEvent {
  readonly instanceId: string;
  readonly zone: string;
  readonly eventId: string;
  readonly code: string;
  readonly description: string;
  readonly notBefore: string;
}

export interface Ec2 {
  readonly answer: (request: CloudRequest) => Promise<CloudAnswer>;
  readonly events: ScheduledEvent[];
  reset(): void;
}

const NAMESPACE = 'http://ec2.amazonaws.com/doc/2016-11-15/';
const XML = { 'content-type': 'text/xml;charset=UTF-8' };

export function actionOf({ body }: CloudRequest): string {
  return new URLSearchParams(body).get('Action') ?? '';
}

export function ec2Error(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): CloudAnswer {
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  const body = `<?xml version="1.0" encoding="UTF-8"?><Response><Errors>${error}</Errors><RequestID>r</RequestID></Response>`;
  return { status, headers: { ...XML, ...headers }, body };
}

export function createEc2(motoUrl: string): Ec2 {
  const tokens = new Map<string, { readonly body: string; readonly answer: Promise<CloudAnswer> }>();
  const events: ScheduledEvent[] = [];

  /** One instance for a token. With other parameters the token is refused, as the EC2 API reference describes. */
  async function run(request: CloudRequest): Promise<CloudAnswer> {
    const token = new URLSearchParams(request.body).get('ClientToken');
    if (token === null) return await forward(request, motoUrl);
    const before = tokens.get(token);
    if (before && before.body !== request.body) {
      return ec2Error(
        400,
        'IdempotentParameterMismatch',
        'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
      );
    }
    const answer = before?.answer ?? forward(request, motoUrl);
    tokens.set(token, { body: request.body, answer });
    const result = await answer;
    // A request that was refused created nothing.
    if (result.status >= 400) tokens.delete(token);
    return before ? await withCurrentState(result) : result;
  }

  /** The answer to a repeated request has the state of now: the instance may be terminated. */
  async function withCurrentState(result: CloudAnswer): Promise<CloudAnswer> {
    const id = /<instanceId>(.*?)<\/instanceId>/.exec(result.body)?.[1] ?? '';
    const form = { Action: 'DescribeInstances', Version: '2016-11-15', 'InstanceId.1': id };
    const described = await forward(formRequest(form), motoUrl);
    const state = /<instanceState>.*?<\/instanceState>/s.exec(described.body)?.[0];
    const body =
      state === undefined ? result.body : result.body.replace(/<instanceState>.*?<\/instanceState>/s, state);
    return { ...result, body };
  }

  function describeEvents({ body }: CloudRequest): CloudAnswer {
    const codes = [...new URLSearchParams(body)]
      .filter(([name]) => /^Filter\.\d+\.Value\.\d+$/.test(name))
      .map(([, value]) => value);
    const items = events.filter(({ code }) => codes.includes(code)).map(statusItem);
    const set = `<instanceStatusSet>${items.join('')}</instanceStatusSet>`;
    return {
      status: 200,
      headers: XML,
      body: `<DescribeInstanceStatusResponse xmlns="${NAMESPACE}">${set}</DescribeInstanceStatusResponse>`,
    };
  }

  return {
    events,
    answer: async (request) => {
      if (actionOf(request) === 'RunInstances') return await run(request);
      return actionOf(request) === 'DescribeInstanceStatus'
        ? describeEvents(request)
        : await forward(request, motoUrl);
    },
    reset() {
      tokens.clear();
      events.length = 0;
    },
  };
}

export function formRequest(fields: Readonly<Record<string, string>>): CloudRequest {
  const authorization =
    'AWS4-HMAC-SHA256 Credential=test/20261127/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0';
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization };
  return { method: 'POST', path: '/', headers, body: new URLSearchParams(fields).toString() };
}

function statusItem({ instanceId, zone, eventId, code, description, notBefore }: ScheduledEvent): string {
  const event = `<item><instanceEventId>${eventId}</instanceEventId><code>${code}</code><description>${description}</description><notBefore>${notBefore}</notBefore></item>`;
  return `<item><instanceId>${instanceId}</instanceId><availabilityZone>${zone}</availabilityZone><eventsSet>${event}</eventsSet></item>`;
}

export const EMPTY_PAGE: CloudAnswer = {
  status: 200,
  headers: XML,
  body: `<DescribeInstancesResponse xmlns="${NAMESPACE}"><reservationSet/></DescribeInstancesResponse>`,
};

/** Removes all instances from a list. */
export function emptied(answer: CloudAnswer): CloudAnswer {
  return {
    ...answer,
    body: answer.body.replace(/<reservationSet>.*<\/reservationSet>/s, '<reservationSet></reservationSet>'),
  };
}

/** Reverses a list. moto gives each instance a reservation of its own. */
export function reversed(answer: CloudAnswer): CloudAnswer {
  const [, content = ''] = /<reservationSet>(.*)<\/reservationSet>/s.exec(answer.body) ?? [];
  return { ...answer, body: answer.body.replace(content, topItems(content).toReversed().join('')) };
}

function topItems(xml: string): readonly string[] {
  const items: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: tag, index } of xml.matchAll(/<\/?item>/g)) {
    if (tag === '<item>' && depth === 0) start = index;
    depth += tag === '<item>' ? 1 : -1;
    if (depth === 0) items.push(xml.slice(start, index + tag.length));
  }
  return items;
}
