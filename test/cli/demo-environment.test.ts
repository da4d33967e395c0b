import { demoEnvironment } from '../../packages/cli/src/demo/run';

describe('the environment of a demo', () => {
  it('has the server of the user, and neither the service nor the codec server', () => {
    const kept = { PATH: '/bin', TEMPORAL_ADDRESS: 'h:1', TEMPORAL_MEDIA_DEBUG: '1' };
    const dropped = { MEDIA_API_KEY: 'k', TEMPORAL_CODEC_ENDPOINT: 'http://c/', TEMPORAL_CODEC_AUTH: 'a' };
    expect(demoEnvironment({ ...kept, ...dropped })).toEqual(kept);
  });
});
