/** Exports traces, and decides when what the collector did not take is sent again. */
import type { ReconcileResult } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { TraceExporter } from '../../observability/trace/otlp/exporter.ts';
import type { EndedTrace } from '../../observability/trace/sources/ended.ts';

export async function exportTraces(
  ended: readonly EndedTrace[],
  exporter: TraceExporter,
  { clock, signal }: Pick<ReconcileContext, 'clock' | 'signal'>,
): Promise<ReconcileResult> {
  const retryMs = await exporter.export(ended, signal);
  return retryMs === undefined ? {} : { requeueAt: new Date(clock.now().getTime() + retryMs) };
}
