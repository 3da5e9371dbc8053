import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.DoubleByReference;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Scanner;

/**
 * Scores documents by a LightGBM model file: a line of features on stdin, a score on stdout.
 *
 * <pre>java -cp jna.jar -Djna.library.path="$FOLDER" LightGBM.java model.txt < features.txt</pre>
 *
 * FOLDER is lib/ in the Python package lightgbm, or where `cmake --install` put the library; jna.jar is net.java.dev.jna:jna.
 */
public class LightGBM {
    interface Api extends Library {
        int LGBM_BoosterCreateFromModelfile(String path, IntByReference rounds, PointerByReference model);

        int LGBM_BoosterGetNumFeature(Pointer model, IntByReference features);

        int LGBM_BoosterPredictForMatSingleRow(
                Pointer model, double[] row, int type, int features, int rowMajor, int predict, int firstRound, int rounds,
                String params, LongByReference length, DoubleByReference score);
    }

    static final int DOUBLES = 1, RAW_SCORE = 1, ALL_ROUNDS = -1;

    public static void main(String[] arguments) {
        Api api = Native.load("_lightgbm", Api.class);
        PointerByReference made = new PointerByReference();
        if (api.LGBM_BoosterCreateFromModelfile(arguments[0], new IntByReference(), made) != 0)
            throw new IllegalArgumentException("no model");
        IntByReference features = new IntByReference();
        api.LGBM_BoosterGetNumFeature(made.getValue(), features);
        double[] row = new double[features.getValue()];
        DoubleByReference score = new DoubleByReference();
        Scanner words = new Scanner(System.in);
        while (words.hasNext()) {
            for (int i = 0; i < row.length; i++)
                row[i] = Double.parseDouble(words.next().replace("nan", "NaN")); // a missing value
            if (api.LGBM_BoosterPredictForMatSingleRow(
                    made.getValue(), row, DOUBLES, row.length, 1, RAW_SCORE, 0, ALL_ROUNDS, "", new LongByReference(),
                    score) != 0)
                throw new IllegalArgumentException("no score");
            System.out.println(score.getValue());
        }
    }
}
