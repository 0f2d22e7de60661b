/** Plans the gateways of a control plane that other machines reach: beside everything else, because no other member needs them. Pure. */
import { type GatewayMember, isGateway, type MemberReport } from '../../drivers/driver.ts';
import { needsGrant } from '../grants.ts';
import type { HostingAct, HostingDecision, HostingInput, HostingWait } from '../input.ts';
import { memberWait, planMember } from '../members.ts';

type GatewayReport = MemberReport & { readonly member: GatewayMember };

function gatewayReports({ plane }: Pick<HostingInput, 'plane'>): readonly GatewayReport[] {
  return plane.members.filter((report): report is GatewayReport => isGateway(report.member));
}

/** Tells whether clients of other machines connect, where they are to. */
export function isReachedOutside(input: Pick<HostingInput, 'plane'>): boolean {
  const gateways = gatewayReports(input);
  return gateways.length === 0 || gateways.some(({ state }) => state === 'Ready');
}

/** Adds the start or stop of a gateway. It waits for no person, and an act that needs a grant may be denied for long: only others go first. */
export function withGateways(input: HostingInput, decision: HostingDecision): HostingDecision {
  if (decision.act && (!needsGrant(decision.act) || decision.act.type === 'SetOutside')) return decision;
  const act = gatewayAct(input);
  return act ? { act } : decision;
}

/** One that was refused just now, such as for a port, keeps the other one from nothing. */
function gatewayAct(input: HostingInput): HostingAct | undefined {
  const acts = gatewayReports(input)
    .filter(({ member }) => input.refused?.has(member) !== true)
    .flatMap((report) => planMember(report, input)?.act ?? []);
  return acts.find((act) => !needsGrant(act)) ?? acts[0];
}

/** Returns what a gateway waits for that does not answer. It holds nothing but the Secret of sync, whose address it is. */
export function gatewayWait(input: HostingInput): HostingWait | undefined {
  const down = gatewayReports(input).filter(({ state }) => state !== 'Ready');
  const waits = down.map(
    (report) => input.refused?.get(report.member) ?? planMember(report, input)?.wait ?? memberWait(report),
  );
  return waits.find(({ isStalled }) => isStalled) ?? waits[0];
}
