import { versionOf } from '../../src/worker/assemble';

const version = { deploymentName: 'media', buildId: '0.3.0' };

describe('the version of a worker', () => {
  it('is that of MEDIA_DEPLOYMENT, with workflows pinned that name no behaviour', () => {
    expect(versionOf({ deployment: { name: 'media', buildId: '0.3.0' } }, undefined)).toEqual({
      workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' },
    });
    expect(versionOf({ deployment: undefined }, undefined)).toEqual({});
  });

  it("is the user's where there is one", () => {
    const users = { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
    expect(versionOf({ deployment: { name: 'other', buildId: '1' } }, users)).toEqual({});
  });

  it('is refused where it is named but not used: the server would refuse every workflow task', () => {
    const named = { useWorkerVersioning: false, version } as const;
    expect(() => versionOf({ deployment: undefined }, named)).toThrow(/useWorkerVersioning to true/);
  });
});
