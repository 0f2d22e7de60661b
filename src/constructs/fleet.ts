/**
 * What a fleet repository starts with: the clusters, and what goes to each of them. A chart is one unit of one cluster; its path says which,
 * `test/machines`. What belongs to the hub itself is under `hub`.
 */
import { App, type AppProps, Chart, type ChartProps } from 'cdk8s';
import { Construct } from 'constructs';
import { Cluster } from './generated/cluster.ts';
import { Pipeline } from './generated/pipeline.ts';
import type { ClusterSpec, PipelineSpec } from './generated/types.ts';

/** Sync puts these here; it has the same name in src/sync. */
const FACTS = Symbol.for('kubenode.facts');
const HUB = 'hub';

export interface ClusterProps extends ClusterSpec {
  /** What selectors match, besides environment and region. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export class Fleet extends App {
  /** What sync tells the program; empty when a person runs it. */
  readonly facts: Readonly<Record<string, unknown>>;
  private readonly scopes = new Map<string, Construct>();

  constructor(props: AppProps = {}) {
    super({ outdir: process.env['CDK8S_OUTDIR'] ?? 'rendered', ...props });
    this.facts = ((globalThis as Record<symbol, unknown>)[FACTS] ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** Declares a cluster in the hub, and gives the place for what runs in it. */
  cluster(name: string, { labels, annotations, ...spec }: ClusterProps): FleetCluster {
    const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
    const object = new Cluster(this.hub('clusters'), name, { metadata, spec });
    return new FleetCluster(object, { spec, labels: labels ?? {}, scope: this.scopeOf(name) });
  }

  /** Declares the road of every commit. */
  pipeline(name: string, spec: PipelineSpec): Pipeline {
    return new Pipeline(this.hub('pipelines'), name, { metadata: { name }, spec });
  }

  /** A unit of the hub, for what else it needs. */
  hub(unit: string, props: ChartProps = {}): Chart {
    return chartIn(this.scopeOf(HUB), unit, props);
  }

  private scopeOf(name: string): Construct {
    const scope = this.scopes.get(name) ?? new Construct(this, name);
    this.scopes.set(name, scope);
    return scope;
  }
}

interface FleetClusterProps {
  readonly spec: ClusterSpec;
  readonly labels: Readonly<Record<string, string>>;
  readonly scope: Construct;
}

export class FleetCluster {
  readonly name: string;
  /** What is declared in the hub. */
  readonly object: Cluster;
  readonly environment: ClusterSpec['environment'];
  readonly region: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  private readonly scope: Construct;

  constructor(object: Cluster, { spec, labels, scope }: FleetClusterProps) {
    this.name = object.name;
    this.object = object;
    this.environment = spec.environment;
    this.region = spec.region;
    this.labels = labels;
    this.scope = scope;
  }

  /** The chart of a unit: what is applied, counted and pruned together. The same one each time. */
  unit(name: string, props: ChartProps = {}): Chart {
    return chartIn(this.scope, name, props);
  }
}

/** Names in charts are those that the program gives: no hash, so that a move in the program renames nothing. */
function chartIn(scope: Construct, name: string, props: ChartProps): Chart {
  const found = scope.node.tryFindChild(name);
  return found instanceof Chart
    ? found
    : new Chart(scope, name, { disableResourceNameHashes: true, ...props });
}
