/** Health of built-in kinds other than workloads, by the rules of kstatus: Pods, volumes, Services and APIServices. */
import { listAt, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { conditionAt, explain, failed, HEALTHY, type HealthFinding, progressing } from './finding.ts';

type Rule = (object: KubeObject) => HealthFinding;

export const RULES_OF_RESOURCES: readonly (readonly [kind: string, rule: Rule])[] = [
  ['/Pod', pod],
  ['/PersistentVolumeClaim', persistentVolumeClaim],
  ['/Service', service],
  ['apiregistration.k8s.io/APIService', apiService],
];

function pod(object: KubeObject): HealthFinding {
  const phase = textAt(object, 'status', 'phase') ?? 'not reported';
  if (phase === 'Failed') return failedPod(object);
  const ready = conditionAt(object, 'Ready');
  if (phase === 'Succeeded' || ready?.status === 'True') return HEALTHY;
  if (!ready) return progressing('NotReady', `its phase is ${phase}`);
  const { because, since } = explain(ready);
  return progressing('NotReady', because, since ? { since } : {});
}

function failedPod(object: KubeObject): HealthFinding {
  const reason = textAt(object, 'status', 'reason') ?? 'PodFailed';
  return failed(reason, textAt(object, 'status', 'message') ?? `it ended: ${reason}`);
}

/** A claim whose class binds with the first Pod stays Pending until then: put it into the unit of that Pod. */
function persistentVolumeClaim(object: KubeObject): HealthFinding {
  const phase = textAt(object, 'status', 'phase');
  if (phase === 'Bound') return HEALTHY;
  return phase === 'Lost'
    ? failed('VolumeLost', 'its volume does not exist any more')
    : progressing('NotBound', `its phase is ${phase ?? 'not reported'}: no volume is bound to it yet`);
}

function service(object: KubeObject): HealthFinding {
  if (valueAt(object, 'spec', 'type') !== 'LoadBalancer') return HEALTHY;
  return listAt(object, 'status', 'loadBalancer', 'ingress').length > 0
    ? HEALTHY
    : progressing('NoAddress', 'its load balancer has no address yet');
}

function apiService(object: KubeObject): HealthFinding {
  const available = conditionAt(object, 'Available');
  if (available?.status === 'True') return HEALTHY;
  if (!available) return progressing('NotAvailable', 'condition Available is not reported');
  const { because, since } = explain(available);
  return progressing('NotAvailable', because, since ? { since } : {});
}
