import { App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import {
  unitDependenciesOf,
  unitNameOf,
  withDependencies,
} from '../../../../src/sync/render/harness/unit-dependencies.ts';

interface Tree {
  readonly app: App;
  readonly chart: (cluster: string, name: string) => Chart;
  readonly scope: (name: string) => Construct;
}

function tree(): Tree {
  const app = new App();
  const scope = (name: string): Construct => {
    const found = app.node.tryFindChild(name);
    return found instanceof Construct ? found : new Construct(app, name);
  };
  return { app, scope, chart: (cluster, name) => new Chart(scope(cluster), name) };
}

function read(app: App): { units: readonly string[]; problems: readonly string[] } {
  const { byChart, problems } = unitDependenciesOf(app.node.findAll(), (each) => Chart.isChart(each));
  const units = [...byChart].map(([chart, names]) => `${unitNameOf(chart).unit}: ${[...names].join(' ')}`);
  return { units, problems: problems.map(({ path, message }) => `${path}: ${message}`) };
}

describe('unitDependenciesOf', () => {
  it('S13 reads a dependency between two charts, also of a chart in a chart', () => {
    const { app, chart } = tree();
    const [db, web] = [chart('test', 'db'), chart('test', 'web')];
    const nested = new Chart(web, 'cache');
    web.addDependency(db);
    nested.addDependency(db);
    expect(read(app)).toEqual({ units: ['web: db', 'web-cache: db'], problems: [] });
  });

  it('ignores a dependency within one chart', () => {
    const { app, chart } = tree();
    const web = chart('test', 'web');
    new Construct(web, 'b').node.addDependency(new Construct(web, 'a'));
    expect(read(app)).toEqual({ units: [], problems: [] });
  });

  it.each([
    [
      'on a whole cluster',
      'test/web depends on other: only units, and objects in units, can depend on each other',
    ],
    [
      'of a whole cluster',
      'other depends on test/web: only units, and objects in units, can depend on each other',
    ],
  ])('S13 refuses a dependency of units %s', (which, expected) => {
    const { app, chart, scope } = tree();
    const web = chart('test', 'web');
    if (which === 'on a whole cluster') web.node.addDependency(scope('other'));
    else scope('other').node.addDependency(web);
    const { units, problems } = read(app);
    expect([units, problems.length]).toEqual([[], 1]);
    expect(problems[0]).toContain(expected);
  });
});

describe('withDependencies', () => {
  it('S13 adds the units to those that the object names itself', () => {
    const object = { metadata: { name: 'a', annotations: { 'kubenode.dev/depends-on': 'net', x: 'y' } } };
    expect(withDependencies(object, new Set(['db']))).toEqual({
      metadata: { name: 'a', annotations: { 'kubenode.dev/depends-on': 'net, db', x: 'y' } },
    });
  });

  it.each([[undefined], ['text'], [{ metadata: 3 }]])('leaves %j for the checks of objects', (object) => {
    expect(withDependencies(object, new Set(['db']))).toBe(object);
  });
});
